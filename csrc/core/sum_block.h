// Blocks of a row: elements are added in float within one, the blocks' sums in order in double.
#pragma once

#include "core/cache_line.h"
#include "core/integers.h"

namespace ascend_grad {

inline constexpr int64_t kSumBlock = 1024;  // elements, at most

// Elements of every block but the last of a row that is longer: about as many in each, and whole
// cache lines of any dtype, so that blocks begin with a line where rows do.
constexpr int64_t even_block(int64_t length) {
    constexpr int64_t kNarrowest = 2;  // bytes of an element
    return round_up(divide_up(length, divide_up(length, kSumBlock)), kCacheLine / kNarrowest);
}

}  // namespace ascend_grad
