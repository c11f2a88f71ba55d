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
    using Base::t_;

  public:
    __aicore__ inline PoolDirect(GM_ADDR grad_output, GM_ADDR grad_input,
                                 const AvgPool2dBackwardTiling& tiling, TPipe& pipe)
        : Base(grad_output, grad_input, tiling, pipe),
          divisors_(tiling, tiling.table_columns, pipe) {
        quotients_ = this->floats(pipe, quotients_buffer_, t_.table_columns);
        row_ = this->floats(pipe, row_buffer_, static_cast<uint32_t>(t_.tile_width));
    }

    __aicore__ inline void run() {
        while (this->next_tile()) {
            const uint32_t width = static_cast<uint32_t>(columns_.end - columns_.begin);
            PipeBarrier<PIPE_V>();
            this->fill(this->tile_lanes(), 0.0f,
                       static_cast<uint32_t>(rows_.end - rows_.begin) * t_.tile_pitch);
            const int64_t last =
                least((rows_.end - 1 + t_.pad_height) / t_.stride_height, t_.windows_height - 1);
            for (int64_t i =
                     first_window(rows_.begin, t_.kernel_height, t_.stride_height, t_.pad_height);
                 i <= last; ++i) {
                add_windows_of_row(i);
                const int64_t top = i * t_.stride_height - t_.pad_height;
                const int64_t end = least(rows_.end, top + t_.kernel_height);
                PipeBarrier<PIPE_V>();
                for (int64_t row = greatest(rows_.begin, top); row < end; ++row) {
                    const LocalTensor<float> to =
                        this->tile_lanes()[this->tile_position(0, row - rows_.begin, 0) * kLanes];
                    Add(to, to, row_, static_cast<int32_t>(width * kLanes));
                }
            }
            this->store_tile();
        }
    }

  private:
    // The first window that reaches element x.
    __aicore__ inline int64_t first_window(int64_t x, int64_t kernel, int64_t stride, int64_t pad) {
        const int64_t beyond = x + pad - kernel;
        return beyond < 0 ? 0 : beyond / stride + 1;
    }

    // row_ = for each column of the tile, the sum over those windows of row i that cover it.
    __aicore__ inline void add_windows_of_row(int64_t i) {
        PipeBarrier<PIPE_V>();
        this->fill(row_, 0.0f, static_cast<uint32_t>(t_.tile_width));
        const int64_t end =
            least((columns_.end - 1 + t_.pad_width) / t_.stride_width + 1, t_.windows_width);
        GradPart part{i, i + 1, 0, 0};
        for (part.first_column =
                 first_window(columns_.begin, t_.kernel_width, t_.stride_width, t_.pad_width);
             part.first_column < end; part.first_column = part.end_column) {
            part.end_column = least(part.first_column + t_.table_columns, end);
            const uint32_t count = static_cast<uint32_t>(part.end_column - part.first_column);
            this->load(part);
            this->widen(part);
            divisors_.set_columns(part.first_column, count);
            divisors_.set_row(i);
            divisors_.divide(quotients_, this->grad_lanes(), 0, count);
            for (uint32_t j = 0; j < count; ++j)
                add_window(part.first_column + j, quotients_[j * kLanes]);
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
    typename Base::Buffer quotients_buffer_, row_buffer_;
    LocalTensor<float> quotients_, row_;
};

}  // namespace kernels
