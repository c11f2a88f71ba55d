#pragma once

#include "isa/division.h"
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
    using Base::factor_;
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
        pitch_ = (channels_ + kPairLanes - 1) / kPairLanes * kPairLanes;
        kept_ = static_cast<int>(pool_scratch::kept_rows(plan_)) - 1;
        caches_ = kept_ >= pool_scratch::overlap(plan_.height) &&
                  (kept_ + 1) * static_cast<int64_t>(windows_) * pitch_ <= pool_scratch::kFloats;
        for (int64_t plane = first_plane_; plane < last_plane_; ++plane) {
            const char* from = grad_ + plane_offset(plane, 0) + channel_ * plan_.channel_stride[0];
            char* to = grad_input_ + plane_offset(plane, 1) + channel_ * plan_.channel_stride[1] +
                       column_ * plan_.width_stride[1];
            for (int64_t& i : cached_) i = -1;
            RowWindows rows(plan_.height, first_row_);
            for (int64_t row = first_row_; row < last_row_;) {
                const int64_t equal = rows.count(last_row_ - row);
                const Sums sums = caches_ ? sums_of_rows(from, rows.covering()) : Sums{};
                for (int64_t i = 0; i < equal; ++i, ++row) {
                    char* out = to + row * plan_.height_stride[1];
                    if (caches_) {
                        write_row(out, sums);
                    } else {
                        write_row_uncached(out, from, rows.covering());
                    }
                }
                rows.advance(equal);
            }
        }
    }

  private:
    // Rows of quotients whose sum a row of grad_input needs: one, or two.
    struct Sums {
        const float* first;
        const float* second;
    };

    float divisor_of(int64_t i, int64_t j) const {
        if (plan_.divisor != 0.0f) return plan_.divisor;
        return counted(plan_.height, plan_.count_include_pad, i) *
               counted(plan_.width, plan_.count_include_pad, j);
    }
    const T* channels_at(const char* plane, int64_t i, int64_t j) const {
        return reinterpret_cast<const T*>(plane + i * plan_.height_stride[0] +
                                          j * plan_.width_stride[0]);
    }

    const float* quotient_row(const char* plane, int64_t i) {
        const int slot = static_cast<int>(i & (kept_ - 1));
        float* row = rows_ + static_cast<int64_t>(slot + 1) * windows_ * pitch_;
        if (cached_[slot] == i) return row;
        cached_[slot] = i;
        for (int j = 0; j < windows_; ++j) {
            divide(row + j * pitch_, channels_at(plane, i, first_window_ + j),
                   divisor_of(i, first_window_ + j));
        }
        return row;
    }
    void divide(float* to, const T* from, float divisor) {
        if (factor_ != 0.0f) {
            const Lanes factor = splat(factor_);
            return for_each_vector(to, from, [&](Lanes x) { return x * factor; });
        }
        if (has_reciprocal(divisor)) {
            if (divisor != last_divisor_) {
                last_divisor_ = divisor;
                reciprocal_ = reciprocal(divisor);
            }
            const Lanes high = splat(reciprocal_.high), rest = splat(reciprocal_.rest);
            TinyLanes tiny;
            for_each_vector(to, from, [&](Lanes x) {
                if (kMayBeTiny<T>) tiny.look_at(x);
                return by_products(x, high, rest);
            });
            if (!kMayBeTiny<T> || !tiny.found()) return;
        }
        const Lanes lanes = splat(divisor);
        for_each_vector(to, from, [&](Lanes x) { return x / lanes; });
    }
    // -0 becomes +0.
    template <class Quotient>
    AG_INLINE void for_each_vector(float* to, const T* from, const Quotient& quotient) const {
        const int channels = channels_;
        int c = 0;
        for (; c + kLanes <= channels; c += kLanes)
            store_raw(to + c, quotient(this->rounded_by_mode(load(from + c))) + Lanes{});
        if (c < channels) {
            const Lanes x = load_first(from + c, channels - c);
            store_raw(to + c, quotient(this->rounded_by_mode(x)) + Lanes{});
        }
    }

    Sums sums_of_rows(const char* plane, const Covering& rows) {
        const int64_t count = rows.last - rows.first + 1;
        const int elements = windows_ * pitch_;
        if (count <= 0) {
            std::memset(rows_, 0, sizeof(float) * static_cast<size_t>(elements));
            return {rows_, nullptr};
        }
        const float* first = quotient_row(plane, rows.first);
        if (count == 1) return {first, nullptr};
        const float* second = quotient_row(plane, rows.first + 1);
        if (count == 2) return {first, second};
        for (int64_t i = rows.first + 2; i <= rows.last; ++i) {
            const float* next = quotient_row(plane, i);
            for (int k = 0; k < elements; k += kLanes) {
                const Lanes sum =
                    i == rows.first + 2 ? load(first + k) + load(second + k) : load(rows_ + k);
                store_raw(rows_ + k, sum + load(next + k));
            }
        }
        return {rows_, nullptr};
    }

    void write_row(char* out, const Sums& sums) const {
        RowWindows columns(plan_.width, column_);
        for (int c = 0; c < columns_;) {
            const int equal = static_cast<int>(columns.count(columns_ - c));
            const Covering& windows = columns.covering();
            const int64_t offset = (windows.first - first_window_) * pitch_;
            const bool two = sums.second != nullptr;
            write_columns(out, {sums.first + offset, two ? sums.second + offset : nullptr},
                          static_cast<int>(windows.last - windows.first + 1), equal);
            out += equal * plan_.width_stride[1];
            c += equal;
            columns.advance(equal);
        }
    }
    void write_columns(char* out, const Sums& sums, int windows, int columns) const {
        const bool two = sums.second != nullptr;
        if (windows == 1) {
            two ? add_windows<1, true>(out, sums, 1, columns)
                : add_windows<1, false>(out, sums, 1, columns);
        } else if (windows == 2) {
            two ? add_windows<2, true>(out, sums, 2, columns)
                : add_windows<2, false>(out, sums, 2, columns);
        } else {
            two ? add_windows<0, true>(out, sums, windows, columns)
                : add_windows<0, false>(out, sums, windows, columns);
        }
    }
    template <bool kTwo>
    static AG_INLINE LanePair sum_at(const Sums& sums, int64_t at) {
        return kTwo ? load_pair(sums.first + at) + load_pair(sums.second + at)
                    : load_pair(sums.first + at);
    }
    // Equal neighbouring columns; kWindows 0: any number.
    template <int kWindows, bool kTwo>
    AG_INLINE void add_windows(char* out, const Sums& sums, int windows, int columns) const {
        const int64_t stride = plan_.width_stride[1];
        const int channels = channels_, pitch = pitch_;
        const bool streaming = streaming_;
        if (kWindows > 0) windows = kWindows;
        for (int c = 0; c < channels; c += kPairLanes) {
            LanePair sum = windows > 0 ? sum_at<kTwo>(sums, c) : LanePair{};
            for (int j = 1; j < windows; ++j) sum = sum + sum_at<kTwo>(sums, j * pitch + c);
            const auto x = pack<T>({this->result_by_mode(sum.low), this->result_by_mode(sum.high)});
            char* to = out + c * static_cast<int64_t>(sizeof(T));
            for (int k = 0; k < columns; ++k, to += stride) {
                T* p = reinterpret_cast<T*>(to);
                if (c + kPairLanes > channels) {
                    store_first_packed(p, x, channels - c);
                } else if (streaming) {
                    stream_packed(p, x);
                } else {
                    store_packed(p, x);
                }
            }
        }
    }

    void write_row_uncached(char* out, const char* plane, const Covering& rows) const {
        RowWindows columns(plan_.width, column_);
        for (int c = 0; c < columns_; ++c, out += plan_.width_stride[1], columns.advance(1))
            write_channels_uncached(reinterpret_cast<T*>(out), plane, rows, columns.covering());
    }
    void write_channels_uncached(T* out, const char* plane, const Covering& rows,
                                 const Covering& columns) const {
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

    int64_t first_window_ = 0;
    int windows_ = 0, pitch_ = 0, kept_ = 0;
    bool caches_ = false;
    float last_divisor_ = 0.0f;
    Reciprocal reciprocal_{};
    int64_t cached_[pool_scratch::kRows];
    // [sum and kept rows][window][channel]
    alignas(64) float rows_[pool_scratch::kFloats + kPairLanes];
};

}  // namespace
}  // namespace ascend_grad
