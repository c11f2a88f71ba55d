// Blocks of a row: elements are added in float within one, the blocks' sums in order in double.
#pragma once

#include "core/cache_line.h"
#include "core/integers.h"

namespace ascend_grad {

inline constexpr int kSumLanes = 16;
inline constexpr int64_t kSumBlock = 1024;  // elements, at most

// Elements of every block but the last of a row that is longer: even up to whole cache lines of any
// dtype, so that blocks begin with a line where rows do.
constexpr int64_t even_block(int64_t length) {
    constexpr int64_t kLine = kCacheLine / 2;  // elements of 16 bit
    static_assert(kLine % kSumLanes == 0);
    return round_up(divide_up(length, divide_up(length, kSumBlock)), kLine);
}

}  // namespace ascend_grad
