// Gradients window by window, for kernels that overlap so much that no table of their quotients
// fits: a row of windows is spread over a row of the tile, which is then added to the rows it
// covers.
#pragma once

#include "avg_pool2d_backward/divisors.h"

namespace kernels {

template <typename T>
class PoolDirect : PoolTile<T> {
    using Base = PoolTile<T>;
    using Base::columns_;
    using Base::rows_;
    using Base::run_;
    using Base::t_;
    using Base::windows_;

  public:
    __aicore__ inline PoolDirect(GM_ADDR grad_output, GM_ADDR grad_input,
                                 const AvgPool2dBackwardTiling& tiling, TPipe& pipe)
        : Base(grad_output, grad_input, tiling, pipe),
          divisors_(tiling, tiling.divisor_columns, pipe) {
        row_ = this->floats(pipe, row_buffer_, static_cast<uint32_t>(t_.tile_width));
    }

    __aicore__ inline void run() {
        while (this->next_run()) {
            while (this->next_rows(run_.end)) {
                sum();
                this->store_tile(this->tile_lanes());
            }
        }
    }

  private:
    __aicore__ inline void sum() {
        const uint32_t width = static_cast<uint32_t>(columns_.end - columns_.begin);
        PipeBarrier<PIPE_V>();
        this->fill(this->tile_lanes(), 0.0f,
                   static_cast<uint32_t>(rows_.end - rows_.begin) * t_.tile_pitch);
        const int64_t end =
            least((rows_.end - 1 + t_.pad_height) / t_.stride_height + 1, t_.windows_height);
        for (int64_t i =
                 this->first_window(rows_.begin, t_.kernel_height, t_.stride_height, t_.pad_height);
             i < end; ++i) {
            add_windows_of_row(i);
            const int64_t top = i * t_.stride_height - t_.pad_height;
            const int64_t bottom = least(rows_.end, top + t_.kernel_height);
            PipeBarrier<PIPE_V>();
            for (int64_t row = greatest(rows_.begin, top); row < bottom; ++row) {
                const uint32_t at = static_cast<uint32_t>(row - rows_.begin) * t_.tile_pitch;
                const LocalTensor<float> to = this->tile_lanes()[at * kLanes];
                Add(to, to, row_, static_cast<int32_t>(width * kLanes));
            }
        }
    }

    // row_ = for each column of the tile, the sum over those windows of row i that cover it.
    __aicore__ inline void add_windows_of_row(int64_t i) {
        PipeBarrier<PIPE_V>();
        this->fill(row_, 0.0f, static_cast<uint32_t>(t_.tile_width));
        for (PoolRange part{windows_.begin, 0}; part.begin < windows_.end; part.begin = part.end) {
            part.end = least(part.begin + t_.divisor_columns, windows_.end);
            const uint32_t count = static_cast<uint32_t>(part.end - part.begin);
            const LanesShape shape = this->grad_part({i, i + 1}, part);
            this->load(shape);
            this->widen(shape, 0);
            if (divisors_.is_constant()) {
                divisors_.divide_all(this->grads_, count);
            } else {
                divisors_.set_columns(part.begin, count);
                divisors_.set_row(i);
                divisors_.divide_row(this->grads_);
            }
            for (uint32_t j = 0; j < count; ++j)
                add_window(part.begin + j, this->grads_[j * kLanes]);
        }
    }
    __aicore__ inline void add_window(int64_t j, const LocalTensor<float>& quotient) {
        const int64_t left = j * t_.stride_width - t_.pad_width;
        const int64_t begin = greatest(left, columns_.begin);
        const int64_t end = least(left + t_.kernel_width, columns_.end);
        const BinaryRepeatParams params(1, 1, 1, kRowBlocks, kRowBlocks, 0);
        PipeBarrier<PIPE_V>();
        for (int64_t x = begin; x < end; x += kMaxRepeat) {
            const LocalTensor<float> to = row_[static_cast<uint32_t>(x - columns_.begin) * kLanes];
            Add(to, to, quotient, kLanes, static_cast<uint8_t>(least(end - x, kMaxRepeat)), params);
        }
    }

    static constexpr uint8_t kRowBlocks = kLanes * sizeof(float) / kBlockBytes;
    PoolDivisors<Base::kIsNarrow> divisors_;
    typename Base::Buffer row_buffer_;
    LocalTensor<float> row_;
};

}  // namespace kernels
