#pragma once

#include "ops/avg_pool2d_backward/tile.h"

namespace ascend_grad {
namespace {

// One plane at a time, row by row.
template <class T>
class PoolAlongWidth : public PoolTile<T> {
    using Op = AvgPool2dBackward;
    using Base = PoolTile<T>;
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

    // The sums of a band are made one band before they are used: a load that straddles stores must
    // wait for them otherwise.
    void run() {
        char* first = grad_input_ + plane_offset(first_plane_, 1) +
                      first_row_ * plan_.height_stride[1] + column_ * plan_.width_stride[1];
        Sink<T> sink(streaming_, first);
        const bool fits = select_windows();
        Band pending{};
        for (int64_t plane = first_plane_; plane < last_plane_; ++plane) {
            const char* from = grad_ + plane_offset(plane, 0);
            char* to = grad_input_ + plane_offset(plane, 1) + column_ * plan_.width_stride[1];
            start_plane();
            RowWindows windows(plan_.height, first_row_);
            for (int64_t row = first_row_; row < last_row_;) {
                const Band band{fits ? sum_of_rows(from, windows.covering()) : nullptr,
                                to + row * plan_.height_stride[1], windows.count(last_row_ - row)};
                if (!fits) {
                    add_windows_one_by_one(from, windows.covering());
                    for (int64_t i = 0; i < band.rows; ++i)
                        write_line(band.to + i * plan_.height_stride[1], sink);
                } else {
                    write_band(pending, sink);
                    pending = band;
                }
                row += band.rows;
                windows.advance(band.rows);
            }
        }
        write_band(pending, sink);
    }

  private:
    // Rows of grad_input that the same windows cover, ready to be written.
    struct Band {
        const float* sums;  // of the windows' rows of quotients
        char* to;
        int64_t rows;
    };

    // Quotients of windows (i, first_window_ + [0, windows_)) into `to`; lanes beyond are 0.
    void scale_row(const char* plane, int64_t i, float* to) const {
        const char* from =
            plane + i * plan_.height_stride[0] + first_window_ * plan_.width_stride[0];
        const bool unit = plan_.width_stride[0] == static_cast<int64_t>(sizeof(T));
        if (!unit) {
            load_run<T>(to, from, plan_.width_stride[0], windows_);
            for (int j = windows_; j % kLanes != 0; ++j) to[j] = 0.0f;
        }
        const bool constant = plan_.divisor != 0.0f;
        const Lanes rows =
            splat(constant ? plan_.divisor : counted(plan_.height, plan_.count_include_pad, i));
        for (int j = 0; j < windows_; j += kLanes) {
            const T* p = reinterpret_cast<const T*>(from) + j;
            const int n = windows_ - j;
            const Lanes x = !unit ? load(to + j) : n >= kLanes ? load(p) : load_first(p, n);
            store_raw(to + j, quotient(x, constant ? rows : rows * load(counts_ + j)));
        }
    }

    // Which windows reach this tile's columns, and where they stand in a row of quotients: first
    // the windows that would precede them, as zeros, so that every column adds the same number of
    // windows.
    bool select_windows() {
        const int64_t lowest = (column_ + plan_.width.pad) / plan_.width.stride;
        const int64_t highest = (column_ + columns_ - 1 + plan_.width.pad) / plan_.width.stride;
        overlap_ = pool_scratch::overlap(plan_.width);
        const int64_t leftmost = lowest - overlap_ + 1;
        first_window_ = greatest(leftmost, 0);
        windows_ =
            static_cast<int>(greatest(0, least(highest + 1, plan_.width.windows) - first_window_));
        groups_ = static_cast<int>(highest - lowest + 1);
        const int64_t pitch = (groups_ + overlap_ + 3 * kLanes) / kLanes * kLanes;
        if (overlap_ > kMaxOverlap) return false;
        pitch_ = static_cast<int>(pitch);
        used_ = static_cast<int>(groups_ + overlap_ - 1);
        rows_at_once_ = greatest(1, Sink<T>::kReserve / columns_);
        lead_ = static_cast<int>(first_window_ - leftmost);
        first_phase_ = column_ + plan_.width.pad - lowest * plan_.width.stride;
        kept_ = 1;
        const int64_t rows = least(pool_scratch::overlap(plan_.height), pool_scratch::kRows) + 1;
        while (kept_ < rows) kept_ *= 2;
        caches_ = kept_ <= pool_scratch::kRows && (kept_ + 2) * pitch_ <= pool_scratch::kFloats;
        if (!caches_) kept_ = 1;
        std::memset(rows_, 0, sizeof(float) * static_cast<size_t>((kept_ + 2) * pitch_));
        choose_writer();
        std::memset(line_, 0, sizeof(line_));
        for (int j = 0; j < windows_ + kLanes; ++j) {
            counts_[j] = j < windows_
                             ? counted(plan_.width, plan_.count_include_pad, first_window_ + j)
                             : 1.0f;
        }
        return true;
    }
    void forget_rows() {
        for (int i = 0; i < pool_scratch::kRows; ++i) cached_[i] = -1;
    }
    // Rows of the next plane follow in the ring, so that they do not overwrite one that is still to
    // be written.
    void start_plane() {
        forget_rows();
        shift_ += plan_.height.windows;
    }
    const float* scaled_row(const char* plane, int64_t i) {
        const int slot = static_cast<int>((i + shift_) & (kept_ - 1));
        float* row = rows_ + (slot + 2) * pitch_;
        if (!caches_ || cached_[slot] != i) scale_row(plane, i, row + lead_);
        cached_[slot] = i;
        return row;
    }
    const float* sum_of_rows(const char* plane, const Covering& rows) {
        sum_slot_ ^= 1;
        float* sums = rows_ + sum_slot_ * pitch_;
        if (rows.last < rows.first) {
            std::memset(sums, 0, sizeof(float) * static_cast<size_t>(pitch_));
            return sums;
        }
        const float* first = scaled_row(plane, rows.first);
        if (rows.last == rows.first && caches_) return first;
        if (caches_) {
            const float* from[pool_scratch::kRows];
            const int count = static_cast<int>(rows.last - rows.first) + 1;
            for (int k = 0; k < count; ++k) from[k] = scaled_row(plane, rows.first + k);
            for (int j = 0; j < used_; j += kLanes) {
                Lanes sum = load(from[0] + j) + load(from[1] + j);
                for (int k = 2; k < count; ++k) sum = sum + load(from[k] + j);
                store_raw(sums + j, sum);
            }
            return sums;
        }
        std::memcpy(sums, first, sizeof(float) * static_cast<size_t>(pitch_));
        for (int64_t i = rows.first + 1; i <= rows.last; ++i) {
            const float* next = scaled_row(plane, i);
            for (int j = 0; j < pitch_; j += kLanes)
                store_raw(sums + j, load(sums + j) + load(next + j));
        }
        return sums;
    }

    // Column c of grad_input belongs to the group of columns with equal (c + pad) / stride; `own`
    // holds, from the first group on, the sum of the window that starts with the group. An element
    // adds the last windows up to its group's own, as many as the kernel spans at its phase in the
    // group.
    void write_band(const Band& band, Sink<T>& sink) {
        if (band.rows == 0) return;
        const float* own = band.sums + overlap_ - 1;
        const int64_t pitch = plan_.height_stride[1];
        if (writer_ == nullptr) {
            if (plan_.width.kernel == plan_.width.stride) {
                repeat(own);
            } else {
                add_by_phase(own);
            }
            for (int64_t i = 0; i < band.rows; ++i) write_line(band.to + i * pitch, sink);
            return;
        }
        const bool contiguous = pitch == columns_ * static_cast<int64_t>(sizeof(T));
        const int64_t at_once = contiguous ? rows_at_once_ : 1;
        for (int64_t i = 0; i < band.rows; i += at_once) {
            const int rows = static_cast<int>(least(at_once, band.rows - i));
            sink.move_to(band.to + i * pitch);
            (this->*writer_)(own, sink.reserve(rows * columns_), rows);
            sink.commit(rows * columns_);
        }
    }

    // writer_ writes equal neighbouring rows straight from the sums; null where that takes more
    // steps.
    void choose_writer() {
        writer_ = nullptr;
        const bool rounds = plan_.dtype == DataType::kFloat32 && plan_.mode == Op::Mode::kFloat16;
        if (plan_.width_stride[1] != static_cast<int64_t>(sizeof(T)) || rounds) return;
        if (plan_.width.stride == 1) choose_writer_1<kMaxUnrolled>();
        if (plan_.width.stride == 2) choose_writer_2<kMaxUnrolled>();
    }
    template <int kKernel>
    void choose_writer_1() {
        if (kKernel == 0 || plan_.width.kernel == kKernel) {
            writer_ = &PoolAlongWidth::write_stride_1<kKernel>;
        } else if constexpr (kKernel > 0) {
            choose_writer_1<kKernel - 1>();
        }
    }
    template <int kKernel>
    void choose_writer_2() {
        if (kKernel == 0 || plan_.width.kernel == kKernel) {
            writer_ = first_phase_ == 0 ? &PoolAlongWidth::write_stride_2<kKernel, 0>
                                        : &PoolAlongWidth::write_stride_2<kKernel, 1>;
        } else if constexpr (kKernel > 0) {
            choose_writer_2<kKernel - 1>();
        }
    }

    template <int kCount>
    static AG_INLINE Lanes sum_up_to(const float* own, int count) {
        Lanes sum{};
        for (int t = (kCount >= 0 ? kCount : count) - 1; t >= 0; --t) sum = sum + load(own - t);
        return sum;
    }

    template <int kKernel>
    void write_stride_1(const float* own, T* out, int rows) const {
        constexpr int kCount = kKernel > 0 ? kKernel : -1;
        const int count = static_cast<int>(overlap_);
        const int columns = columns_;
        for (int c = 0; c < columns; c += kLanes) {
            const Lanes value = sum_up_to<kCount>(own + c, count);
            for (int i = 0; i < rows; ++i) put(out + i * columns + c, value, columns - c);
        }
    }
    template <int kKernel, int kPhase>
    void write_stride_2(const float* own, T* out, int rows) const {
        constexpr int kEven = kKernel > 0 ? (kKernel + 1) / 2 : -1;
        constexpr int kOdd = kKernel > 0 ? kKernel / 2 : -1;
        const int even = static_cast<int>((plan_.width.kernel + 1) / 2);
        const int odd = static_cast<int>(plan_.width.kernel / 2);
        const int columns = columns_;
        for (int c = 0; c < columns; c += 2 * kLanes, own += kLanes) {
            const Lanes at_even = sum_up_to<kEven>(own + kPhase, even);
            const Lanes at_odd = sum_up_to<kOdd>(own, odd);
            Lanes low, high;
            interleave(kPhase == 0 ? at_even : at_odd, kPhase == 0 ? at_odd : at_even, low, high);
            for (int i = 0; i < rows; ++i) {
                T* to = out + i * columns + c;
                put(to, low, columns - c);
                if (columns - c > kLanes) put(to + kLanes, high, columns - c - kLanes);
            }
        }
    }
    static AG_INLINE void put(T* to, Lanes value, int n) {
        if (n >= kLanes) {
            store(to, value);
        } else {
            store_first(to, value, n);
        }
    }

    // line_ for windows that neither overlap nor leave gaps.
    void repeat(const float* own) {
        int64_t start = -first_phase_;
        for (int u = 0; u < groups_; ++u, start += plan_.width.stride) {
            const Lanes value = Lanes{} + splat(own[u]);
            const int from = static_cast<int>(greatest(start, 0));
            const int64_t end = start + plan_.width.stride;
            const int to = end < columns_ ? static_cast<int>(end) : columns_;
            for (int c = from; c < to; c += kLanes) store_raw(line_ + c, value);
        }
    }
    void add_by_phase(const float* own) {
        int64_t phase = first_phase_;
        for (int c = 0; c < columns_; ++c) {
            float sum = 0.0f;
            for (int t = windows_at(phase) - 1; t >= 0; --t) sum = sum + own[-t];
            line_[c] = sum;
            if (++phase == plan_.width.stride) {
                phase = 0;
                ++own;
            }
        }
    }
    int windows_at(int64_t phase) const {
        if (phase >= plan_.width.kernel) return 0;
        return overlap_ == 1
                   ? 1
                   : static_cast<int>((plan_.width.kernel - 1 - phase) / plan_.width.stride) + 1;
    }

    // The same sums for kernels of any size: adds each window to the elements it covers.
    void add_windows_one_by_one(const char* plane, const Covering& rows) {
        for (int c = 0; c < columns_; ++c) line_[c] = 0.0f;
        const Covering left = covering(plan_.width, column_);
        const Covering right = covering(plan_.width, column_ + columns_ - 1);
        float* sum = rows_;
        float* next = rows_ + kWindowChunk;
        for (int64_t j = left.first; j <= right.last; j += kWindowChunk) {
            first_window_ = j;
            windows_ = static_cast<int>(least(kWindowChunk, right.last + 1 - j));
            for (int k = 0; k < kWindowChunk; ++k) {
                counts_[k] =
                    k < windows_ ? counted(plan_.width, plan_.count_include_pad, j + k) : 1.0f;
            }
            std::memset(sum, 0, sizeof(float) * kWindowChunk);
            for (int64_t i = rows.first; i <= rows.last; ++i) {
                scale_row(plane, i, next);
                for (int k = 0; k < windows_; ++k) sum[k] += next[k];
            }
            for (int k = 0; k < windows_; ++k) {
                const int64_t start = (j + k) * plan_.width.stride - plan_.width.pad - column_;
                const int from = static_cast<int>(greatest(start, 0));
                const int to = start > columns_ - plan_.width.kernel
                                   ? columns_
                                   : static_cast<int>(start + plan_.width.kernel);
                for (int c = from; c < to; ++c) line_[c] += sum[k];
            }
        }
    }

    void write_line(char* to, Sink<T>& sink) {
        if (plan_.width_stride[1] != static_cast<int64_t>(sizeof(T))) {
            for (int c = 0; c < columns_; c += kLanes)
                store_raw(line_ + c, result_by_mode(load(line_ + c)));
            store_run<T>(to, plan_.width_stride[1], line_, columns_);
            return;
        }
        sink.move_to(to);
        T* out = sink.reserve(columns_);
        int c = 0;
        for (; c + kLanes <= columns_; c += kLanes) store(out + c, result_by_mode(load(line_ + c)));
        if (c < columns_) store_first(out + c, result_by_mode(load(line_ + c)), columns_ - c);
        sink.commit(columns_);
    }

    static constexpr int kMaxOverlap = 16;
    static constexpr int kMaxUnrolled = 7;  // kernels with code of their own
    static constexpr int kWindowChunk = 256;

    int64_t first_window_ = 0, overlap_ = 0, first_phase_ = 0, rows_at_once_ = 1;
    int windows_ = 0, groups_ = 0, used_ = 0, pitch_ = 0, lead_ = 0, kept_ = 0;
    bool caches_ = false;
    void (PoolAlongWidth::*writer_)(const float* own, T* out, int rows) const = nullptr;
    int64_t shift_ = 0;
    int sum_slot_ = 0;
    int64_t cached_[pool_scratch::kRows];
    alignas(64) float counts_[pool_scratch::kMaxColumns + 4 * kLanes];
    alignas(64) float line_[pool_scratch::kMaxColumns + 4 * kLanes];
    alignas(64) float rows_[pool_scratch::kFloats + kLanes];
};

}  // namespace
}  // namespace ascend_grad
