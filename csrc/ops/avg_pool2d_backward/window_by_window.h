#pragma once

#include "ops/avg_pool2d_backward/tile.h"

namespace ascend_grad {
namespace {

// Any kernel: adds each window to the elements of a row that it covers, in the order of the sums
// that the other traversals make.
template <class T>
class PoolWindowByWindow : public PoolTile {
  public:
    using PoolTile::PoolTile;

    void run() {
        Sink<T> sink(streaming_, nullptr);
        for (int64_t plane = first_plane_; plane < last_plane_; ++plane) {
            const char* from = grad_ + plane_offset(plane, 0);
            char* to = grad_input_ + plane_offset(plane, 1) + column_ * plan_.width_stride[1];
            RowWindows windows(plan_.height, first_row_);
            for (int64_t row = first_row_; row < last_row_;) {
                add_windows(from, windows.covering());
                const int64_t equal = windows.count(last_row_ - row);
                for (int64_t i = 0; i < equal; ++i, ++row)
                    write_line(line_, to + row * plan_.height_stride[1], sink);
                windows.advance(equal);
            }
        }
    }

  private:
    // A row of the tile, one vector longer than its columns.
    void write_line(const float* line, char* to, Sink<T>& sink) const {
        if (plan_.width_stride[1] != static_cast<int64_t>(sizeof(T))) {
            float rounded[pool_scratch::kMaxColumns + kLanes];
            for (int c = 0; c < columns_; c += kLanes)
                store_raw(rounded + c, result_by_mode<T>(load(line + c)));
            store_run<T>(to, plan_.width_stride[1], rounded, columns_);
            return;
        }
        sink.move_to(to);
        T* out = sink.reserve(columns_);
        int c = 0;
        for (; c + kLanes <= columns_; c += kLanes)
            store(out + c, result_by_mode<T>(load(line + c)));
        if (c < columns_) store_first(out + c, result_by_mode<T>(load(line + c)), columns_ - c);
        sink.commit(columns_);
    }
    void add_windows(const char* plane, const Covering& rows) {
        for (int c = 0; c < columns_; ++c) line_[c] = 0.0f;
        const Covering left = covering(plan_.width, column_);
        const Covering right = covering(plan_.width, column_ + columns_ - 1);
        for (int64_t j = left.first; j <= right.last; j += kWindowChunk) {
            const int windows = static_cast<int>(least(kWindowChunk, right.last + 1 - j));
            float counts[kWindowChunk];
            for (int k = 0; k < kWindowChunk; ++k) {
                counts[k] =
                    k < windows ? counted(plan_.width, plan_.count_include_pad, j + k) : 1.0f;
            }
            float sums[kWindowChunk] = {};
            for (int64_t i = rows.first; i <= rows.last; ++i) {
                const char* from = plane + i * plan_.height_stride[0] + j * plan_.width_stride[0];
                add_row(from, windows, counted(plan_.height, plan_.count_include_pad, i), counts,
                        sums);
            }
            for (int k = 0; k < windows; ++k) add_to_line(j + k, sums[k]);
        }
    }
    void add_row(const char* from, int windows, float rows, const float* counts,
                 float* sums) const {
        float row[kWindowChunk] = {};
        load_run<T>(row, from, plan_.width_stride[0], windows);
        for (int k = 0; k < windows; k += kLanes) {
            const Lanes divisor =
                plan_.divisor != 0.0f ? splat(plan_.divisor) : splat(rows) * load(counts + k);
            store_raw(sums + k, load(sums + k) + quotient<T>(load(row + k), divisor));
        }
    }
    void add_to_line(int64_t window, float sum) {
        const int64_t start = window * plan_.width.stride - plan_.width.pad - column_;
        const int from = static_cast<int>(greatest(start, 0));
        const int to = start > columns_ - plan_.width.kernel
                           ? columns_
                           : static_cast<int>(start + plan_.width.kernel);
        for (int c = from; c < to; ++c) line_[c] += sum;
    }

    static constexpr int kWindowChunk = 256;

    alignas(64) float line_[pool_scratch::kMaxColumns + kLanes];
};

}  // namespace
}  // namespace ascend_grad
