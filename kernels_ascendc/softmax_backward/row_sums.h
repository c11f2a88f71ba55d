// Sums of rows and differences with them, in arrays of floats whose rows lie at equal distances.
// Rows may begin inside blocks: those with the same place in a block are worked on at once, or those
// that begin a lane or two further each (skewed_rows.h).
#pragma once

#include "softmax_backward/skewed_rows.h"

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

// The same for every row of the set, whose lanes end at `last`. `with` has a row, or a block of
// equal values, every `with_pitch` elements.
template <bool adds>
__aicore__ inline void combine_rows(const LocalTensor<float>& to, const LocalTensor<float>& with,
                                    const RowSet& set, uint32_t last, uint32_t with_pitch) {
    const uint32_t step = set.pitch / kFloatsPerBlock;
    const uint32_t pieces = 1 + (set.begin > 0) + (last % kFloatsPerRepeat > 0);  // of a row
    if (step > kMaxStride || set.rows * pieces * kFloatsPerRepeat <= last) {
        for (uint32_t r = 0; r < set.rows; ++r) {
            combine_row<adds>(to[r * set.pitch], with[r * with_pitch], set.begin, last);
        }
        return;
    }
    for (uint32_t r = 0; r < set.rows; r += kMaxRepeat) {
        for (uint32_t i = 0; i < last; i += kFloatsPerRepeat) {
            const LaneMask lanes(i == 0 ? set.begin : 0, at_most(last - i, kFloatsPerRepeat));
            combine<adds>(to[r * set.pitch + i], with[r * with_pitch + (adds ? i : 0)], lanes,
                          at_most(set.rows - r, kMaxRepeat), step, with_pitch / kFloatsPerBlock);
        }
    }
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

#if __CCE_AICORE__ != 100

// sums[k * sets] = the sum of the set's k-th row.
__aicore__ inline void sum_set(const LocalTensor<float>& sums, const LocalTensor<float>& data,
                               const RowSet& set, uint32_t count, uint32_t sets) {
    count = fold_set(data, set, count);
    LaneMask lanes(set.begin, set.begin + count);
    const uint32_t step = set.pitch / kFloatsPerBlock;
    const uint32_t at_once = step > kMaxStride ? 1 : kMaxRepeat;
    for (uint32_t r = 0; r < set.rows; r += at_once) {
        WholeReduceSum(sums[r * sets], data[r * set.pitch], lanes.bits,
                       static_cast<int32_t>(at_most(set.rows - r, at_once)),
                       static_cast<int32_t>(sets), 1,
                       static_cast<int32_t>(step > kMaxStride ? 0 : step));
    }
}

#else

// tile[k * sets * kLanes + i], i < sixteen: the set's k-th row's sum is theirs. They were zero.
__aicore__ inline void sum_set(const LocalTensor<float>& tile, const LocalTensor<float>& data,
                               const RowSet& set, uint32_t count, uint32_t sets) {
    const uint32_t end = set.begin + fold_set(data, set, count);
    LaneMask front(set.begin, at_most(end, kLanes)), rear(0, end - at_most(end, kLanes));
    const uint32_t step = set.pitch / kFloatsPerBlock, to_step = sets * kLanes / kFloatsPerBlock;
    const uint32_t at_once = step > kMaxStride ? 1 : kMaxRepeat;
    const auto stride = static_cast<uint8_t>(step > kMaxStride ? 0 : step);
    const auto to_stride = static_cast<uint8_t>(to_step);
    for (uint32_t r = 0; r < set.rows; r += at_once) {
        const LocalTensor<float> to = tile[r * sets * kLanes];
        const auto repeats = static_cast<uint8_t>(at_most(set.rows - r, at_once));
        Adds(to, data[r * set.pitch], 0.0f, front.bits, repeats,
             UnaryRepeatParams(1, 1, to_stride, stride));
        if (end <= kLanes) continue;
        Add(to, to, data[r * set.pitch + kLanes], rear.bits, repeats,
            BinaryRepeatParams(1, 1, 1, to_stride, to_stride, stride));
    }
}

// Sixteen rows of sixteen lanes: each becomes the sum of its lanes, in all of them. They are
// transposed, added, and transposed back, as this product has no reduction of floats.
__aicore__ inline void sum_lanes(const LocalTensor<float>& tile,
                                 const LocalTensor<float>& scratch) {
    constexpr uint32_t kTile = kLanes * kLanes;
    interleave(scratch, tile, kLanes, kLanes, scratch[kTile]);
    fold_rows(scratch, 1, kTile, kLanes, kTile);
    Adds(scratch[kLanes], scratch, 0.0f, static_cast<uint64_t>(kLanes),
         static_cast<uint8_t>(kLanes - 1), UnaryRepeatParams(1, 1, 2, 0));
    deinterleave(tile, scratch, kLanes, kLanes, scratch[kTile]);
}

#endif

#if __CCE_AICORE__ != 100

// sums[k * kSumPitch + i] = values[k], i < 8.
__aicore__ inline void spread_sums(const LocalTensor<float>& sums, const LocalTensor<float>& values,
                                   uint32_t count) {
    for (uint32_t k = 0; k < count; k += 8 * kMaxRepeat) {
        const uint32_t repeats = (count - k + 7) / 8;
        Brcb(sums[k * kSumPitch], values[k], static_cast<uint8_t>(at_most(repeats, kMaxRepeat)),
             BrcbRepeatParams(1, 8));
    }
}

// sums[(g * 8 + k) * kSumPitch + i] = the sum of the k-th row of group g, i < 8.
__aicore__ inline void sum_skewed(const LocalTensor<float>& sums, const LocalTensor<float>& data,
                                  const Rows& all, const LocalTensor<float>& scratch) {
    Duplicate(sums, 0.0f, static_cast<int32_t>(most_skewed(all.rows) * kFloatsPerRepeat));
    const uint32_t groups =
        for_each_skewed(all, skew_of(all.pitch), [&](const SkewedRows& rows, uint32_t group) {
            rows.fold(sums[group * kFloatsPerRepeat], data);
        });
    for (uint32_t g = 0; g < groups; g += kMaxRepeat) {
        BlockReduceSum(scratch[g * 8], sums[g * kFloatsPerRepeat],
                       static_cast<int32_t>(at_most(groups - g, kMaxRepeat)),
                       static_cast<int32_t>(kFloatsPerRepeat), 1, 1, 8);
    }
    spread_sums(sums, scratch, groups * 8);
}

#endif

// Of the sums of so many rows in tiles; values of `sums` and `scratch`.
__aicore__ inline uint32_t sums_floats(uint32_t rows) {
    const uint32_t skewed = most_skewed(rows) * kFloatsPerRepeat, all = round_up(rows, kLanes);
    return all * kLanes > skewed ? all * kLanes : skewed;
}
__aicore__ inline uint32_t scratch_floats(uint32_t rows) {
    if (__CCE_AICORE__ == 100) return 2 * kLanes * kLanes;
    return sums_floats(rows) / kFloatsPerBlock;
}

// The sums of data[start + r * pitch, + count), for subtract_sums() with the same arguments; of the
// first row sums[i], i < 8. Overwrites data. Room: sums_floats() and scratch_floats().
__aicore__ inline void sum_rows(const LocalTensor<float>& sums, const LocalTensor<float>& data,
                                uint32_t start, uint32_t rows, uint32_t count, uint32_t pitch,
                                const LocalTensor<float>& scratch) {
    const uint32_t sets = row_sets(pitch);
#if __CCE_AICORE__ != 100
    const Rows all{start, rows, count, pitch};
    if (is_skewed(all, sets)) {
        sum_skewed(sums, data, all, scratch);
        return;
    }
#else
    Duplicate(sums, 0.0f, static_cast<int32_t>(round_up(rows, kLanes) * kLanes));
#endif
    for (uint32_t first = 0; first < sets && first < rows; ++first) {
        const RowSet set = row_set(first, sets, start, rows, pitch);
#if __CCE_AICORE__ != 100
        sum_set(scratch[first], data[set.at], set, count, sets);
#else
        sum_set(sums[first * kLanes], data[set.at], set, count, sets);
#endif
    }
#if __CCE_AICORE__ != 100
    spread_sums(sums, scratch, rows);
#else
    for (uint32_t r = 0; r < rows; r += kLanes) sum_lanes(sums[r * kLanes], scratch);
#endif
}

// data[start + r * pitch + i] -= the row's sum, i < count.
__aicore__ inline void subtract_sums(const LocalTensor<float>& data, const LocalTensor<float>& sums,
                                     uint32_t start, uint32_t rows, uint32_t count,
                                     uint32_t pitch) {
    const uint32_t sets = row_sets(pitch);
    const Rows all{start, rows, count, pitch};
    if (is_skewed(all, sets)) {
        for_each_skewed(all, skew_of(pitch), [&](const SkewedRows& group, uint32_t index) {
            group.subtract(data, sums[index * kFloatsPerRepeat]);
        });
        return;
    }
    for (uint32_t first = 0; first < sets && first < rows; ++first) {
        const RowSet set = row_set(first, sets, start, rows, pitch);
        combine_rows<false>(data[set.at], sums[first * kSumPitch], set, set.begin + count,
                            sets * kSumPitch);
    }
}

}  // namespace kernels
