// Rows of floats that lie at equal distances and may begin inside blocks: those with the same place
// in a block are a set, which instructions work on at once.
#pragma once

#include "softmax_backward/arithmetic.h"

namespace kernels {

// Rows whole blocks apart. Lane `begin` of the repeat at element `at` is the first one's first.
struct RowSet {
    uint32_t at, begin;
    uint32_t rows, pitch;
};

// After so many rows of `pitch` elements the place in a block is the same.
__aicore__ inline uint32_t row_sets(uint32_t pitch) {
    uint32_t sets = 1;
    while (sets * pitch % kFloatsPerBlock != 0) sets *= 2;
    return sets;
}

// Rows `first`, first + sets, ... of those from element `start` on.
__aicore__ inline RowSet row_set(uint32_t first, uint32_t sets, uint32_t start, uint32_t rows,
                                 uint32_t pitch) {
    const uint32_t at = start + first * pitch, begin = at % kFloatsPerBlock;
    return {at - begin, begin, (rows - first + sets - 1) / sets, sets * pitch};
}

// Lanes of a repeat, [first, last).
struct LaneMask {
    uint64_t bits[2];
    __aicore__ LaneMask(uint32_t first, uint32_t last)
        : bits{(last < kFloatsPerRepeat ? (1ull << last) - 1 : ~0ull) & ~((1ull << first) - 1), 0} {
    }
};

// to[i] += with[i], or to[i] -= with[0], which all lanes of its block hold; in `repeats` repeats,
// strides in blocks.
template <bool adds>
__aicore__ inline void combine(const LocalTensor<float>& to, const LocalTensor<float>& with,
                               LaneMask lanes, uint32_t repeats, uint32_t stride,
                               uint32_t with_stride) {
    const auto step = static_cast<uint8_t>(stride);
    const BinaryRepeatParams params(1, 1, adds ? 1 : 0, step, step,
                                    static_cast<uint8_t>(with_stride));
    if constexpr (adds) {
        Add(to, to, with, lanes.bits, static_cast<uint8_t>(repeats), params);
    } else {
        Sub(to, to, with, lanes.bits, static_cast<uint8_t>(repeats), params);
    }
}

// The same for the lanes [first, last) of one row; first < 8.
template <bool adds>
__aicore__ inline void combine_row(const LocalTensor<float>& to, const LocalTensor<float>& with,
                                   uint32_t first, uint32_t last) {
    constexpr uint32_t kStride = kFloatsPerRepeat / kFloatsPerBlock;
    for (uint32_t i = 0; i < last;) {
        const uint32_t left = last - i, begin = i == 0 ? first : 0;
        uint32_t repeats = 1;
        if (begin == 0 && left >= kFloatsPerRepeat) {
            repeats = at_most(left / kFloatsPerRepeat, kMaxRepeat);
        }
        combine<adds>(to[i], with[adds ? i : 0], LaneMask(begin, at_most(left, kFloatsPerRepeat)),
                      repeats, kStride, adds ? kStride : 0);
        i += repeats * kFloatsPerRepeat;
    }
}

// Whether every row, whose lanes end at `last`, takes fewer instructions by itself than the set.
__aicore__ inline bool is_alone(const RowSet& set, uint32_t last) {
    const uint32_t pieces = 1 + (set.begin > 0) + (last % kFloatsPerRepeat > 0);  // of a row
    return set.pitch / kFloatsPerBlock > kMaxStride || set.rows * pieces * kFloatsPerRepeat <= last;
}

// The same for every row of the set, whose lanes end at `last`. `with` has a row, or a block of
// equal values, every `with_pitch` elements.
template <bool adds>
__aicore__ inline void combine_rows(const LocalTensor<float>& to, const LocalTensor<float>& with,
                                    const RowSet& set, uint32_t last, uint32_t with_pitch) {
    if (is_alone(set, last)) {
        for (uint32_t r = 0; r < set.rows; ++r) {
            combine_row<adds>(to[r * set.pitch], with[r * with_pitch], set.begin, last);
        }
        return;
    }
    const uint32_t step = set.pitch / kFloatsPerBlock;
    for (uint32_t r = 0; r < set.rows; r += kMaxRepeat) {
        for (uint32_t i = 0; i < last; i += kFloatsPerRepeat) {
            const LaneMask lanes(i == 0 ? set.begin : 0, at_most(last - i, kFloatsPerRepeat));
            combine<adds>(to[r * set.pitch + i], with[r * with_pitch + (adds ? i : 0)], lanes,
                          at_most(set.rows - r, kMaxRepeat), step, with_pitch / kFloatsPerBlock);
        }
    }
}

// Adds the lanes [first, last) of one row to a repeat of it, which begins with its first whole
// block, at the element returned; first < 8, and last is two repeats or more.
__aicore__ inline uint32_t fold_row(const LocalTensor<float>& row, uint32_t first, uint32_t last) {
    const uint32_t at = first > 0 ? kFloatsPerBlock : 0;
    const LocalTensor<float> to = row[at];
    // Repeats add to the same lanes.
    const auto add = [&](uint32_t from, LaneMask lanes, uint32_t repeats) {
        constexpr uint8_t kStride = kFloatsPerRepeat / kFloatsPerBlock;
        Add(to, row[from], to, lanes.bits, static_cast<uint8_t>(repeats),
            BinaryRepeatParams(1, 1, 1, 0, kStride, 0));
    };
    if (first > 0) add(0, LaneMask(first, kFloatsPerBlock), 1);
    for (uint32_t i = at + kFloatsPerRepeat, repeats; i < last; i += repeats * kFloatsPerRepeat) {
        const uint32_t left = last - i;
        repeats = left < kFloatsPerRepeat ? 1 : at_most(left / kFloatsPerRepeat, kMaxRepeat);
        add(i, LaneMask(0, at_most(left, kFloatsPerRepeat)), repeats);
    }
    return at;
}

// Adds the rear of rows of `count` elements to their front. Returns how many are left: on 910A at
// most sixteen, else as many as a repeat has room for.
__aicore__ inline uint32_t fold_set(const LocalTensor<float>& data, const RowSet& set,
                                    uint32_t count) {
#if __CCE_AICORE__ != 100
    while (set.begin + count > kFloatsPerRepeat) {
#else
    while (count > kLanes) {
#endif
        // Whole blocks, so that what is added to lies before what is added.
        const uint32_t end = set.begin + count;
        const uint32_t half = round_up((end + 1) / 2, kFloatsPerBlock);
        combine_rows<true>(data, data[half], set, end - half, set.pitch);
        count = half;
    }
    return count;
}

}  // namespace kernels
