// Sums and differences over arrays of rows in the unified buffer: `rows` rows of floats, `pitch`
// apart, a multiple of 8.
#pragma once

#include "common/lanes.h"

namespace kernels {

// Distance of rows' sums.
#if __CCE_AICORE__ != 100
constexpr uint32_t kSumPitch = 8;
#else
constexpr uint32_t kSumPitch = kLanes;
#endif

constexpr uint32_t kFloatsPerBlock = 8;
constexpr uint32_t kFloatsPerRepeat = 64;
constexpr uint32_t kMaxStride = 255;  // blocks between repeats

__aicore__ inline uint32_t at_most(uint32_t value, uint32_t limit) {
    return value < limit ? value : limit;
}

// to[r][i] += from[r][i], i < count.
__aicore__ inline void add_rows(const LocalTensor<float>& to, const LocalTensor<float>& from,
                                uint32_t rows, uint32_t count, uint32_t pitch) {
    const uint32_t step = pitch / kFloatsPerBlock;
    if (step > kMaxStride || rows * kFloatsPerRepeat <= count) {
        for (uint32_t r = 0; r < rows; ++r) {
            Add(to[r * pitch], to[r * pitch], from[r * pitch], static_cast<int32_t>(count));
        }
        return;
    }
    const auto stride = static_cast<uint8_t>(step);
    const BinaryRepeatParams params(1, 1, 1, stride, stride, stride);
    for (uint32_t r = 0; r < rows; r += kMaxRepeat) {
        const auto repeats = static_cast<uint8_t>(at_most(rows - r, kMaxRepeat));
        for (uint32_t i = 0; i < count; i += kFloatsPerRepeat) {
            const LocalTensor<float> target = to[r * pitch + i];
            const uint64_t mask = at_most(count - i, kFloatsPerRepeat);
            Add(target, target, from[r * pitch + i], mask, repeats, params);
        }
    }
}

// data[r][c] = the sum of data[r][c + k * width] over k, c + k * width < count, for c < width; the
// rest is overwritten. Neighbours are added as a tree. `width` is a multiple of 8.
__aicore__ inline void fold_rows(const LocalTensor<float>& data, uint32_t rows, uint32_t count,
                                 uint32_t width, uint32_t pitch) {
    while (count > width) {
        uint32_t half = width;
        while (2 * half < count) half *= 2;
        add_rows(data, data[half], rows, count - half, pitch);
        count = half;
    }
}

// data[r][i] -= vector[i], i < count.
__aicore__ inline void subtract_vector(const LocalTensor<float>& data,
                                       const LocalTensor<float>& vector, uint32_t rows,
                                       uint32_t count, uint32_t pitch) {
    const uint32_t step = pitch / kFloatsPerBlock;
    if (step > kMaxStride || rows * kFloatsPerRepeat <= count) {
        for (uint32_t r = 0; r < rows; ++r) {
            Sub(data[r * pitch], data[r * pitch], vector, static_cast<int32_t>(count));
        }
        return;
    }
    const auto stride = static_cast<uint8_t>(step);
    const BinaryRepeatParams params(1, 1, 1, stride, stride, 0);
    for (uint32_t r = 0; r < rows; r += kMaxRepeat) {
        const auto repeats = static_cast<uint8_t>(at_most(rows - r, kMaxRepeat));
        for (uint32_t i = 0; i < count; i += kFloatsPerRepeat) {
            const LocalTensor<float> target = data[r * pitch + i];
            const uint64_t mask = at_most(count - i, kFloatsPerRepeat);
            Sub(target, target, vector[i], mask, repeats, params);
        }
    }
}

// data[i] -= block[0], which all lanes of the block hold; i < count.
__aicore__ inline void subtract_scalar(const LocalTensor<float>& data,
                                       const LocalTensor<float>& block, uint32_t count) {
    const BinaryRepeatParams params(1, 1, 0, 8, 8, 0);
    const uint32_t whole = count / kFloatsPerRepeat;
    for (uint32_t i = 0; i < whole; i += kMaxRepeat) {
        const LocalTensor<float> target = data[i * kFloatsPerRepeat];
        Sub(target, target, block, static_cast<uint64_t>(kFloatsPerRepeat),
            static_cast<uint8_t>(at_most(whole - i, kMaxRepeat)), params);
    }
    if (whole * kFloatsPerRepeat < count) {
        const LocalTensor<float> target = data[whole * kFloatsPerRepeat];
        Sub(target, target, block, static_cast<uint64_t>(count - whole * kFloatsPerRepeat), 1,
            params);
    }
}

// sums[r * kSumPitch + i] = the sum of data[r][0..count), i < 8, 16 <= count <= 64. Overwrites
// data. Room in `sums`: rows rounded up to 16, times kLanes; in `scratch`: the same rows, or two
// tiles of 16 x 16 on 910A.
__aicore__ inline void sum_rows(const LocalTensor<float>& sums, const LocalTensor<float>& data,
                                uint32_t rows, uint32_t count, uint32_t pitch,
                                const LocalTensor<float>& scratch) {
#if __CCE_AICORE__ != 100
    const uint32_t step = pitch / kFloatsPerBlock;
    const uint32_t at_once = step > kMaxStride ? 1 : kMaxRepeat;
    for (uint32_t r = 0; r < rows; r += at_once) {
        WholeReduceSum(scratch[r], data[r * pitch], static_cast<int32_t>(count),
                       static_cast<int32_t>(at_most(rows - r, at_once)), 1, 1,
                       static_cast<int32_t>(step > kMaxStride ? 0 : step));
    }
    for (uint32_t r = 0; r < rows; r += 8 * kMaxRepeat) {
        const uint32_t repeats = (rows - r + 7) / 8;
        Brcb(sums[r * kSumPitch], scratch[r], static_cast<uint8_t>(at_most(repeats, kMaxRepeat)),
             BrcbRepeatParams(1, 8));
    }
#else
    // No reduction of floats here: sixteen rows of sixteen lanes are transposed, added, and the
    // sums transposed back.
    fold_rows(data, rows, count, kLanes, pitch);
    constexpr uint32_t kTile = kLanes * kLanes;
    for (uint32_t first = 0; first < rows; first += kLanes) {
        const uint32_t here = at_most(rows - first, kLanes);
        const LocalTensor<float> tile = sums[first * kLanes];
        const LocalTensor<float> columns = scratch;
        Duplicate(tile, 0.0f, static_cast<int32_t>(kTile));
        for (uint32_t r = 0; r < here; ++r) {
            Adds(tile[r * kLanes], data[(first + r) * pitch], 0.0f, static_cast<int32_t>(kLanes));
        }
        interleave(columns, tile, kLanes, kLanes, scratch[kTile]);
        fold_rows(columns, 1, kTile, kLanes, kTile);
        Adds(columns[kLanes], columns, 0.0f, static_cast<uint64_t>(kLanes),
             static_cast<uint8_t>(kLanes - 1), UnaryRepeatParams(1, 1, 2, 0));
        deinterleave(tile, columns, kLanes, kLanes, scratch[kTile]);
    }
#endif
}

}  // namespace kernels
