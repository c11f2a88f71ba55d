// Blocks of a row: elements are added in float within one, the blocks' sums in order in double.
#pragma once

#include "core/cache_line.h"
#include "core/integers.h"

namespace ascend_grad {

inline constexpr int kSumLanes = 16;
// Elements, at most: every lane adds 256 of them. Of 16 bit, blocks of 1024 take up to 1.2 times as
// long.
inline constexpr int64_t kSumBlock = 4096;
// Where that leaves threads too few blocks.
inline constexpr int64_t kSharedSumBlock = 1024;

// Of a row's blocks that one task sums, at most.
inline constexpr int64_t kTaskElements = 4 * kSumBlock;

// Elements of a row's block: all, or, but for its last block, even parts of at most `most` up to
// whole cache lines of any dtype, so that blocks begin with a line where rows do.
constexpr int64_t even_block(int64_t length, int64_t most) {
    constexpr int64_t kLine = kCacheLine / 2;  // elements of 16 bit
    static_assert(kLine % kSumLanes == 0);
    if (length <= most) return length;
    return round_up(even_part(length, most), kLine);
}

}  // namespace ascend_grad
