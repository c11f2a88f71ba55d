#pragma once

#include "isa/prefetch.h"
#include "ops/avg_pool2d_backward/gathered_planes.h"
#include "ops/avg_pool2d_backward/quotient_channels.h"

namespace ascend_grad {
namespace {

// Channels contiguous: vectors along them.
template <class T>
class PoolAlongChannels : public QuotientChannels<T> {
    using Base = QuotientChannels<T>;
    using Base::channel_;
    using Base::channels_;
    using Base::channels_at;
    using Base::column_;
    using Base::columns_;
    using Base::first_plane_;
    using Base::first_row_;
    using Base::first_window_;
    using Base::grad_;
    using Base::grad_input_;
    using Base::groups_;
    using Base::last_plane_;
    using Base::last_row_;
    using Base::last_window_;
    using Base::overlap_;
    using Base::pitch_;
    using Base::plan_;
    using Base::plane_offset;
    using Base::slot_window_;
    using Base::start_;
    using Base::streaming_;
    using Base::window_stride_;
    using typename Base::Sums;

  public:
    using Base::Base;

    void run() {
        this->select_columns();
        const int64_t size = sizeof(T);
        column_stride_ = plan_.transposes ? pitch_ * size : plan_.width_stride[1];
        streams_ = streaming_ && !plan_.transposes && !plan_.holds_rows;
        const bool holds = plan_.transposes || (streaming_ && plan_.holds_rows);
        for (int64_t plane = first_plane_; plane < last_plane_; ++plane) {
            if (plan_.gathers) {
                gather_windows();
            } else {
                this->start_plane(
                    grad_ + plane_offset(plane, 0) + channel_ * plan_.channel_stride[0],
                    plan_.height_stride[0], plan_.width_stride[0]);
            }
            char* to = grad_input_ + plane_offset(plane, 1) + channel_ * plan_.channel_stride[1] +
                       column_ * plan_.width_stride[1] + first_row_ * plan_.height_stride[1];
            RowWindows rows(plan_.height, first_row_);
            for (int64_t row = first_row_; row < last_row_;) {
                const int64_t equal = rows.count(last_row_ - row);
                const Covering& windows = rows.covering();
                const Sums sums = this->sums_of_rows(windows);
                row += equal;
                const bool continues =
                    row < last_row_ && windows.last + 1 < plan_.height.windows && !plan_.gathers;
                const T* next = continues ? channels_at(windows.last + 1, first_window_) : nullptr;
                for (int64_t i = 0; i < equal; ++i, to += plan_.height_stride[1]) {
                    char* out = holds ? held_row(to) : to;
                    write_row(out, sums, i == 0 ? next : nullptr);
                    if (held_ == plan_.rows_together) put_held_rows();
                }
                rows.advance(equal);
            }
            if (held_ > 0) put_held_rows();
        }
    }

  private:
    // Of the tile's planes, from such a row and column on.
    PlanePart part(int operand, int64_t row, int64_t rows, int64_t column, int64_t columns) const {
        return {plan_.planes,
                operand,
                row * plan_.height_stride[operand] + column * plan_.width_stride[operand],
                plan_.height_stride[operand],
                plan_.width_stride[operand],
                channel_,
                channels_,
                static_cast<int>(rows),
                static_cast<int>(columns)};
    }
    // The windows that reach the tile's rows, by way of what will hold rows.
    void gather_windows() {
        const int64_t first = covering(plan_.height, first_row_).first;
        const int64_t rows = covering(plan_.height, last_row_ - 1).last + 1 - first;
        const int64_t columns = plan_.width.windows;
        if (rows > 0) {
            gather_planes(windows_, pitch_, held_rows_, grad_, part(0, first, rows, 0, columns));
        }
        const int64_t step = pitch_ * static_cast<int64_t>(sizeof(T));
        // Where the plane would begin, which is outside what holds these rows.
        const auto plane =
            reinterpret_cast<uintptr_t>(windows_) - static_cast<uintptr_t>(first * columns * step);
        this->start_plane(reinterpret_cast<const char*>(plane), columns * step, step);
    }
    // Where to make the row that goes to `to`: behind those that will be stored with it.
    char* held_row(char* to) {
        if (held_ == 0) held_to_ = to;
        return reinterpret_cast<char*>(held_rows_ + held_++ * columns_ * pitch_);
    }
    void put_held_rows() {
        if (plan_.gathers) {
            scatter_planes(grad_input_, held_rows_, pitch_, windows_,
                           part(1, first_row_, last_row_ - first_row_, column_, columns_),
                           streaming_);
        } else if (plan_.transposes) {
            store_columns(held_to_, plan_.channel_stride[1], held_rows_, pitch_,
                          static_cast<int>(held_) * columns_, channels_, streaming_);
        } else {
            stream_run(held_to_, reinterpret_cast<const char*>(held_rows_),
                       static_cast<size_t>(columns_ * column_stride_));
        }
        held_ = 0;
    }

    // `next` is what will be read next: to be fetched while this row is written.
    void write_row(char* out, const Sums& sums, const T* next) const {
        if constexpr (!kIsCompact) {
            if (overlap_ == 1) return write_groups<1>(out, sums, next);
            if (overlap_ == 2) return write_groups<2>(out, sums, next);
        }
        write_groups<0>(out, sums, next);
    }
    template <int kOverlap>
    AG_INLINE void write_groups(char* out, const Sums& sums, const T* next) const {
        if (sums.second != nullptr) {
            streams_ ? write_groups<kOverlap, true, true>(out, sums, next)
                     : write_groups<kOverlap, true, false>(out, sums, next);
        } else {
            streams_ ? write_groups<kOverlap, false, true>(out, sums, next)
                     : write_groups<kOverlap, false, false>(out, sums, next);
        }
    }
    // A group begins with the columns that all its windows cover; the others lie behind the first
    // window. kOverlap: windows of a group; 0: any number. Not inlined, so that the constants of
    // rounding stay in registers.
    template <int kOverlap, bool kTwo, bool kStreaming>
    AG_NOINLINE void write_groups(char* out, Sums sums, const T* next) const {
        const int64_t stride = plan_.width.stride, columns = columns_;
        const int64_t column_stride = column_stride_;
        const int64_t covered = plan_.width.kernel - (overlap_ - 1) * stride;
        const int groups = groups_, pitch = pitch_;
        int64_t start = start_;
        for (int u = 0; u < groups; ++u, start += stride) {
            const int64_t begin = greatest(start, 0), end = least(start + stride, columns);
            const int64_t middle = least(greatest(start + covered, begin), end);
            char* to = out + begin * column_stride;
            char* behind = out + middle * column_stride;
            const int wide = static_cast<int>(middle - begin);
            const int narrow = static_cast<int>(end - middle);
            if (next != nullptr) prefetch_window(next, u);
            // Of the group's windows those that exist.
            const int first = static_cast<int>(greatest(0, first_window_ - slot_window_ - u));
            const int last = static_cast<int>(least(overlap_, last_window_ + 1 - slot_window_ - u));
            write_group<kOverlap, kTwo, kStreaming>(to, behind, sums, wide, narrow, first, last);
            sums.first += pitch;
            if (kTwo) sums.second += pitch;
        }
    }
    // The channels that lie `windows` further. Unsigned: the stride of a single window may be any
    // number.
    AG_INLINE void prefetch_window(const T* next, int64_t windows) const {
        prefetch<Cache::kSecond>(
            next, static_cast<uintptr_t>(windows) * static_cast<uintptr_t>(window_stride_),
            channels_ * static_cast<int>(sizeof(T)));
    }

    template <bool kTwo>
    static AG_INLINE LanePair sum_at(const Sums& sums, int64_t at) {
        return kTwo ? load_pair(sums.first + at) + load_pair(sums.second + at)
                    : load_pair(sums.first + at);
    }
    template <bool kTwo>
    AG_INLINE LanePair sum_of(const Sums& sums, int64_t at, int first, int last) const {
        if (first >= last) return LanePair{};
        LanePair sum = sum_at<kTwo>(sums, at + first * pitch_);
        for (int j = first + 1; j < last; ++j) sum = sum + sum_at<kTwo>(sums, at + j * pitch_);
        return sum;
    }
    AG_INLINE typename Packed<T>::Type packed(LanePair x) const {
        return pack<T>(
            {this->template result_by_mode<T>(x.low), this->template result_by_mode<T>(x.high)});
    }
    template <int kOverlap, bool kTwo, bool kStreaming>
    AG_INLINE void write_group(char* to, char* behind, const Sums& sums, int wide, int narrow,
                               int first, int last) const {
        constexpr auto kBytes = static_cast<int64_t>(sizeof(T)) * kPairLanes;
        const int channels = channels_, pitch = pitch_;
        const int64_t stride = column_stride_;
        for (int c = 0; c < channels; c += kPairLanes, to += kBytes, behind += kBytes) {
            LanePair all{}, later{};
            if (kOverlap == 1) {
                all = sum_at<kTwo>(sums, c);
            } else if (kOverlap == 2) {
                later = sum_at<kTwo>(sums, c + pitch);
                all = sum_at<kTwo>(sums, c) + later;
            } else {
                if (wide > 0) all = sum_of<kTwo>(sums, c, first, last);
                if (narrow > 0) later = sum_of<kTwo>(sums, c, first > 1 ? first : 1, last);
            }
            if (wide > 0) put<kStreaming>(to, packed(all), stride, wide, channels - c);
            if (narrow > 0) put<kStreaming>(behind, packed(later), stride, narrow, channels - c);
        }
    }
    template <class Put>
    static AG_INLINE void each_column(char* to, int64_t stride, int columns, const Put& put) {
        for (int c = 0; c < columns; ++c, to += stride) put(reinterpret_cast<T*>(to));
    }
    // To each of `columns` neighbours.
    template <bool kStreaming>
    static AG_INLINE void put(char* to, const typename Packed<T>::Type& x, int64_t stride,
                              int columns, int channels) {
        if (channels < kPairLanes) {
            each_column(to, stride, columns, [&](T* p) AG_INLINE_LAMBDA {
                kStreaming ? stream_first_packed(p, x, channels)
                           : store_first_packed(p, x, channels);
            });
        } else {
            each_column(to, stride, columns, [&](T* p) AG_INLINE_LAMBDA {
                kStreaming ? stream_packed(p, x) : store_packed(p, x);
            });
        }
    }

    int64_t column_stride_ = 0;  // bytes from column to column of what is written
    bool streams_ = false;
    int64_t held_ = 0;  // rows
    char* held_to_ = nullptr;
    // Columns by channels, on their way to be transposed or streamed.
    alignas(64) T held_rows_[pool_scratch::kTransposed + kPairLanes];
    // Windows by gathered planes, and then these on their way to memory.
    alignas(64) T windows_[pool_scratch::kTransposed + kPairLanes];
};

}  // namespace
}  // namespace ascend_grad
