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

}  // namespace kernels
