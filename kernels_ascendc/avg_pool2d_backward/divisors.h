// What the windows of a row divide by.
#pragma once

#include "avg_pool2d_backward/tile.h"

namespace kernels {

// Elements of window i that count along an axis; 1 for windows that do not exist.
__aicore__ inline int64_t counted(int64_t i, int64_t kernel, int64_t stride, int64_t pad,
                                  int64_t extent, bool count_include_pad) {
    const int64_t begin = i * stride - pad;
    const int64_t count = count_include_pad ? least(kernel, extent - begin + pad)
                                            : least(extent - begin, kernel) + least(begin, 0);
    return greatest(count, 1);
}

// kReciprocal: 16-bit results are rounded so much further that a product with the reciprocal
// serves.
template <bool kReciprocal>
class PoolDivisors {
  public:
    using Buffer = TBuf<TPosition::VECCALC>;

    // `columns`: windows of a row, at most.
    __aicore__ inline PoolDivisors(const AvgPool2dBackwardTiling& tiling, int64_t columns,
                                   TPipe& pipe)
        : t_(tiling) {
        if (t_.factor != 0.0f) return;
        const uint32_t floats =
            is_constant() ? kRepeatFloats : static_cast<uint32_t>(columns) * kLanes;
        pipe.InitBuffer(divisors_buffer_, floats * sizeof(float));
        divisors_ = divisors_buffer_.Get<float>();
        if (is_constant()) {
            Duplicate(divisors_, t_.divisor, static_cast<int32_t>(floats));
            return;
        }
        pipe.InitBuffer(counts_buffer_, floats * sizeof(float));
        pipe.InitBuffer(products_buffer_, floats * sizeof(float));
        counts_ = counts_buffer_.Get<float>();
        products_ = products_buffer_.Get<float>();
    }

    // Whether all windows divide by the same.
    __aicore__ inline bool is_constant() const { return t_.factor != 0.0f || t_.divisor != 0.0f; }
    __aicore__ inline void divide_all(const LocalTensor<float>& x, uint32_t positions) {
        const uint32_t floats = positions * kLanes;
        if (t_.factor != 0.0f) {
            Muls(x, x, t_.factor, static_cast<int32_t>(floats));
            return;
        }
        const BinaryRepeatParams params(1, 1, 1, 8, 8, 0);
        const uint32_t repeats = floats / kRepeatFloats;
        for (uint32_t done = 0; done < repeats; done += kMaxRepeat) {
            const LocalTensor<float> part = x[done * kRepeatFloats];
            const uint32_t left = repeats - done;
            Div(part, part, divisors_, kRepeatFloats,
                static_cast<uint8_t>(left < kMaxRepeat ? left : kMaxRepeat), params);
        }
        const LocalTensor<float> rest = x[repeats * kRepeatFloats];
        if (floats > repeats * kRepeatFloats)
            Div(rest, rest, divisors_, static_cast<int32_t>(floats - repeats * kRepeatFloats));
    }

    // --- Where they differ.

    // For `count` windows from column `first` on.
    __aicore__ inline void set_columns(int64_t first, int64_t count) {
        row_count_ = -1;
        PipeBarrier<PIPE_V>();
        // Neighbouring windows mostly count the same.
        for (int64_t begin = first, end; begin < first + count; begin = end) {
            const int64_t value = counted_columns(begin);
            end = begin + 1;
            while (end < first + count && counted_columns(end) == value) ++end;
            Duplicate(counts_[static_cast<uint32_t>(begin - first) * kLanes],
                      static_cast<float>(value), static_cast<int32_t>(end - begin) * kLanes);
        }
        used_ = static_cast<int32_t>(count) * kLanes;
    }
    // For `count` windows of each lane, from window lane * step - before on.
    __aicore__ inline void set_lanes(int64_t before, int64_t step, int64_t count) {
        used_ = static_cast<int32_t>(count) * kLanes;
        row_count_ = -1;
        PipeBarrier<PIPE_V>();
        const int64_t most = counted_columns(t_.pad_width / t_.stride_width + 1);
        Duplicate(counts_, static_cast<float>(most), used_);
        PipeBarrier<PIPE_V>();
        for (int64_t lane = 0; lane < kLanes; ++lane) {
            for (int64_t i = 0; i < count; ++i) {
                const int64_t window = lane * step + i - before;
                const bool exists = window >= 0 && window < t_.windows_width;
                const int64_t value = exists ? counted_columns(window) : most;
                if (value == most) continue;
                constexpr uint32_t kHalf = kLanes / 2;
                uint64_t mask[2] = {1ull << (lane % kHalf), 0};
                Duplicate(counts_[static_cast<uint32_t>(i * kLanes + lane / kHalf * kHalf)],
                          static_cast<float>(value), mask, 1, 1, 8);
            }
        }
    }
    // For the windows of row i.
    __aicore__ inline void set_row(int64_t i) {
        const int64_t count = counted(i, t_.kernel_height, t_.stride_height, t_.pad_height,
                                      t_.height, t_.count_include_pad != 0);
        if (count == row_count_) return;
        row_count_ = count;
        PipeBarrier<PIPE_V>();
        if constexpr (kReciprocal) {
            Muls(products_, counts_, static_cast<float>(count), used_);
            Duplicate(divisors_, 1.0f, used_);
            PipeBarrier<PIPE_V>();
            Div(divisors_, divisors_, products_, used_);
        } else {
            Muls(divisors_, counts_, static_cast<float>(count), used_);
        }
        PipeBarrier<PIPE_V>();
    }
    // Those windows of that row.
    __aicore__ inline void divide_row(const LocalTensor<float>& x) {
        if constexpr (kReciprocal) {
            Mul(x, x, divisors_, used_);
        } else {
            Div(x, x, divisors_, used_);
        }
    }

  private:
    static constexpr uint32_t kRepeatFloats = 64;

    __aicore__ inline int64_t counted_columns(int64_t i) {
        return counted(i, t_.kernel_width, t_.stride_width, t_.pad_width, t_.width,
                       t_.count_include_pad != 0);
    }
    const AvgPool2dBackwardTiling& t_;
    Buffer counts_buffer_, divisors_buffer_, products_buffer_;
    LocalTensor<float> counts_, divisors_, products_;
    int32_t used_ = 0;
    int64_t row_count_ = -1;
};

}  // namespace kernels
