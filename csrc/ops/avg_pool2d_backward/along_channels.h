#pragma once

#include "ops/avg_pool2d_backward/tile.h"

namespace ascend_grad {
namespace {

// Channels contiguous: vectors along them.
template <class T>
class PoolAlongChannels : public PoolTile<T> {
    using Op = AvgPool2dBackward;
    using Base = PoolTile<T>;
    using Base::channel_;
    using Base::channels_;
    using Base::column_;
    using Base::columns_;
    using Base::first_plane_;
    using Base::first_row_;
    using Base::grad_;
    using Base::grad_input_;
    using Base::last_plane_;
    using Base::last_row_;
    using Base::plan_;
    using Base::plane_offset;
    using Base::quotient;
    using Base::result_by_mode;
    using Base::streaming_;

  public:
    using Base::Base;

    void run() {
        const Covering left = covering(plan_.width, column_);
        const Covering right = covering(plan_.width, column_ + columns_ - 1);
        first_window_ = left.first;
        windows_ = static_cast<int>(greatest(0, right.last + 1 - left.first));
        pitch_ = (channels_ + kLanes - 1) / kLanes * kLanes;
        kept_ = static_cast<int>(pool_scratch::kept_rows(plan_)) - 1;
        caches_ = kept_ >= pool_scratch::overlap(plan_.height) &&
                  (kept_ + 1) * static_cast<int64_t>(windows_) * pitch_ <= pool_scratch::kFloats;
        for (int64_t plane = first_plane_; plane < last_plane_; ++plane) {
            const char* from = grad_ + plane_offset(plane, 0) + channel_ * plan_.channel_stride[0];
            char* to = grad_input_ + plane_offset(plane, 1) + channel_ * plan_.channel_stride[1];
            forget_rows();
            for (int64_t row = first_row_; row < last_row_; ++row) {
                const Covering rows = covering(plan_.height, row);
                const float* sums = caches_ ? channel_sum_of_rows(from, rows) : nullptr;
                char* out = to + row * plan_.height_stride[1] + column_ * plan_.width_stride[1];
                RowWindows columns(plan_.width, column_);
                for (int c = 0; c < columns_;
                     ++c, out += plan_.width_stride[1], columns.advance(1)) {
                    const Covering& windows = columns.covering();
                    if (caches_) {
                        write_channels(reinterpret_cast<T*>(out),
                                       sums + (windows.first - first_window_) * pitch_,
                                       static_cast<int>(windows.last - windows.first + 1));
                    } else {
                        write_channels_uncached(reinterpret_cast<T*>(out), from, rows, windows);
                    }
                }
            }
        }
    }

  private:
    float divisor_of(int64_t i, int64_t j) const {
        if (plan_.divisor != 0.0f) return plan_.divisor;
        return counted(plan_.height, plan_.count_include_pad, i) *
               counted(plan_.width, plan_.count_include_pad, j);
    }
    const T* channels_at(const char* plane, int64_t i, int64_t j) const {
        return reinterpret_cast<const T*>(plane + i * plan_.height_stride[0] +
                                          j * plan_.width_stride[0]);
    }
    const float* channel_row(const char* plane, int64_t i) {
        const int slot = static_cast<int>(i & (kept_ - 1));
        float* row = rows_ + static_cast<int64_t>(slot + 1) * windows_ * pitch_;
        if (cached_[slot] == i) return row;
        cached_[slot] = i;
        for (int j = 0; j < windows_; ++j) {
            const T* from = channels_at(plane, i, first_window_ + j);
            const Lanes divisor = splat(divisor_of(i, first_window_ + j));
            float* to = row + j * pitch_;
            int c = 0;
            for (; c + kLanes <= channels_; c += kLanes)
                store_raw(to + c, quotient(load(from + c), divisor));
            if (c < channels_)
                store_raw(to + c, quotient(load_first(from + c, channels_ - c), divisor));
        }
        return row;
    }
    const float* channel_sum_of_rows(const char* plane, const Covering& rows) {
        if (rows.first == summed_.first && rows.last == summed_.last) return summed_row_;
        summed_ = rows;
        const int count = windows_ * pitch_;
        if (rows.last < rows.first) {
            std::memset(rows_, 0, sizeof(float) * static_cast<size_t>(count));
            return summed_row_ = rows_;
        }
        summed_row_ = channel_row(plane, rows.first);
        for (int64_t i = rows.first + 1; i <= rows.last; ++i) {
            const float* next = channel_row(plane, i);
            for (int k = 0; k < count; k += kLanes)
                store_raw(rows_ + k, load(summed_row_ + k) + load(next + k));
            summed_row_ = rows_;
        }
        return summed_row_;
    }
    void write_channels(T* out, const float* sums, int windows) {
        for (int c = 0; c < channels_; c += kLanes) {
            Lanes sum{};
            for (int j = 0; j < windows; ++j) sum = sum + load(sums + j * pitch_ + c);
            put_channels(out + c, sum, channels_ - c);
        }
    }
    void write_channels_uncached(T* out, const char* plane, const Covering& rows,
                                 const Covering& columns) {
        for (int c = 0; c < channels_; c += kLanes) {
            const int n = channels_ - c < kLanes ? channels_ - c : kLanes;
            Lanes sum{};
            for (int64_t j = columns.first; j <= columns.last; ++j) {
                Lanes column{};
                for (int64_t i = rows.first; i <= rows.last; ++i) {
                    const T* from = channels_at(plane, i, j) + c;
                    column = column + quotient(n == kLanes ? load(from) : load_first(from, n),
                                               splat(divisor_of(i, j)));
                }
                sum = sum + column;
            }
            put_channels(out + c, sum, n);
        }
    }
    AG_INLINE void put_channels(T* out, Lanes value, int n) const {
        value = result_by_mode(value);
        if (n < kLanes) {
            store_first(out, value, n);
        } else if (streaming_) {
            stream_store(out, value);
        } else {
            store(out, value);
        }
    }

    void forget_rows() {
        for (int i = 0; i < pool_scratch::kRows; ++i) cached_[i] = -1;
        summed_ = {-1, -2};
    }

    int64_t first_window_ = 0;
    int windows_ = 0, pitch_ = 0, kept_ = 0;
    bool caches_ = false;
    int64_t cached_[pool_scratch::kRows];
    Covering summed_{-1, -2};
    const float* summed_row_ = nullptr;
    alignas(
        64) float rows_[pool_scratch::kFloats + kLanes];  // [sum and kept rows][window][channel]
};

}  // namespace
}  // namespace ascend_grad
