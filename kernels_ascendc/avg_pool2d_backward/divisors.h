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
    __aicore__ inline PoolDivisors(const AvgPool2dBackwardTiling& tiling, uint32_t columns,
                                   TPipe& pipe)
        : t_(tiling), floats_(columns * kLanes) {
        if (t_.factor != 0.0f) return;
        pipe.InitBuffer(constant_buffer_, kFloatsPerRepeat * sizeof(float));
        constant_ = constant_buffer_.Get<float>();
        Duplicate(constant_, is_constant() ? t_.divisor : 1.0f, kFloatsPerRepeat);
        if (is_constant()) return;
        pipe.InitBuffer(counts_buffer_, floats_ * sizeof(float));
        if (has_planes())
            floats_ =
                t_.divisor_planes * static_cast<uint32_t>(t_.grad_height * t_.grad_width) * kLanes;
        pipe.InitBuffer(divisors_buffer_, floats_ * sizeof(float));
        divisors_ = divisors_buffer_.Get<float>();
        counts_ = counts_buffer_.Get<float>();
    }

    // Whether all windows divide by the same.
    __aicore__ inline bool is_constant() const { return t_.factor != 0.0f || t_.divisor != 0.0f; }
    __aicore__ inline void divide_all(const LocalTensor<float>& x, uint32_t positions) {
        const uint32_t floats = positions * kLanes;
        if (t_.factor != 0.0f) {
            Muls(x, x, t_.factor, static_cast<int32_t>(floats));
        } else {
            divide(x, x, constant_, floats, {1, 1, 1, 8, 8, 0});
        }
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
        const int64_t count = counted_rows(i);
        if (count == row_count_) return;
        row_count_ = count;
        PipeBarrier<PIPE_V>();
        Muls(divisors_, counts_, static_cast<float>(count), used_);
        PipeBarrier<PIPE_V>();
        invert(used_);
    }
    // Those windows of that row.
    __aicore__ inline void divide_row(const LocalTensor<float>& x) { divide_by(x, 0, used_); }

    // Whether those of whole planes are held.
    __aicore__ inline bool has_planes() const { return t_.divisor_planes > 0; }
    __aicore__ inline void set_planes() {
        set_columns(0, t_.windows_width);
        PipeBarrier<PIPE_V>();
        const uint32_t row = used_, plane = static_cast<uint32_t>(t_.windows_height) * row;
        for (uint32_t i = 0; i < t_.windows_height; ++i)
            Muls(divisors_[i * row], counts_, static_cast<float>(counted_rows(i)), used_);
        PipeBarrier<PIPE_V>();
        invert(plane);
        for (uint32_t done = plane; done < floats_; done += plane) {
            PipeBarrier<PIPE_V>();
            DataCopy(divisors_[done], divisors_, plane);
        }
        PipeBarrier<PIPE_V>();
    }
    // `positions` of planes one below the other, from that one of the first on.
    __aicore__ inline void divide_planes(const LocalTensor<float>& x, int64_t first,
                                         uint32_t positions) {
        const uint32_t floats = positions * kLanes;
        for (uint32_t done = 0, count; done < floats; done += count) {
            const uint32_t at = static_cast<uint32_t>((first * kLanes + done) % floats_);
            count = static_cast<uint32_t>(least(floats - done, floats_ - at));
            divide_by(x[done], at, static_cast<int32_t>(count));
        }
    }

  private:
    __aicore__ inline int64_t counted_columns(int64_t i) {
        return counted(i, t_.kernel_width, t_.stride_width, t_.pad_width, t_.width,
                       t_.count_include_pad != 0);
    }
    __aicore__ inline int64_t counted_rows(int64_t i) {
        return counted(i, t_.kernel_height, t_.stride_height, t_.pad_height, t_.height,
                       t_.count_include_pad != 0);
    }
    // By the divisors from float `at` on.
    __aicore__ inline void divide_by(const LocalTensor<float>& x, uint32_t at, int32_t count) {
        if constexpr (kReciprocal) {
            Mul(x, x, divisors_[at], count);
        } else {
            Div(x, x, divisors_[at], count);
        }
    }
    __aicore__ inline void invert(uint32_t floats) {
        if (kReciprocal) divide(divisors_, constant_, divisors_, floats, {1, 1, 1, 8, 0, 8});
        PipeBarrier<PIPE_V>();
    }
    // to = a / b, of which that with a step of 0 in `p` repeats.
    __aicore__ inline void divide(const LocalTensor<float>& to, const LocalTensor<float>& a,
                                  const LocalTensor<float>& b, uint32_t floats,
                                  const BinaryRepeatParams& p) {
        for (uint32_t done = 0, count; done < floats; done += count) {
            const uint32_t left = floats - done;
            const uint32_t mask = left < kFloatsPerRepeat ? left : kFloatsPerRepeat;
            const uint32_t repeats = left / mask < kMaxRepeat ? left / mask : kMaxRepeat;
            count = repeats * mask;
            Div(to[done], a[p.src0RepStride == 0 ? 0 : done], b[p.src1RepStride == 0 ? 0 : done],
                mask, static_cast<uint8_t>(repeats), p);
        }
    }

    const AvgPool2dBackwardTiling& t_;
    uint32_t floats_;
    Buffer constant_buffer_, counts_buffer_, divisors_buffer_;
    LocalTensor<float> constant_;  // the divisor of all, or ones
    LocalTensor<float> counts_, divisors_;
    int32_t used_ = 0;
    int64_t row_count_ = -1;
};

}  // namespace kernels
