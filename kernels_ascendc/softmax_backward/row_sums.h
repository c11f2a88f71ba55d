// Sums of rows and differences with them, in arrays of floats whose rows lie at equal distances.
// Rows may begin inside blocks: those with the same place in a block are worked on at once
// (row_sets.h), or those that begin up to four lanes further each (skewed_rows.h).
#pragma once

#include "softmax_backward/row_sets.h"
#include "softmax_backward/skewed_rows.h"

namespace kernels {

#if __CCE_AICORE__ != 100

// sums[k * sets] = the sum of the set's k-th row.
__aicore__ inline void sum_set(const LocalTensor<float>& sums, const LocalTensor<float>& data,
                               const RowSet& set, uint32_t count, uint32_t sets) {
    const uint32_t last = set.begin + count;
    uint32_t at = 0;
    LaneMask lanes(0, kFloatsPerRepeat);
    if (last >= 2 * kFloatsPerRepeat && is_alone(set, last)) {
        for (uint32_t r = 0; r < set.rows; ++r) at = fold_row(data[r * set.pitch], set.begin, last);
    } else {
        lanes = LaneMask(set.begin, set.begin + fold_set(data, set, count));
    }
    const uint32_t step = set.pitch / kFloatsPerBlock;
    const uint32_t at_once = step > kMaxStride ? 1 : kMaxRepeat;
    for (uint32_t r = 0; r < set.rows; r += at_once) {
        WholeReduceSum(sums[r * sets], data[at + r * set.pitch], lanes.bits,
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

// sums[k * kSumPitch + i] = the sum of the k-th row, i < 8.
__aicore__ inline void sum_skewed(const LocalTensor<float>& sums, const LocalTensor<float>& data,
                                  const Rows& all, const LocalTensor<float>& scratch) {
    const uint32_t groups = skewed_groups(all.rows);
    Duplicate(sums, 0.0f, static_cast<int32_t>(groups * kFloatsPerRepeat));
    for_each_skewed(all, [&](const SkewedRows& rows, uint32_t group) {
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
    return round_up(rows, kLanes) * kLanes;
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
        for_each_skewed(all, [&](const SkewedRows& group, uint32_t index) {
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
