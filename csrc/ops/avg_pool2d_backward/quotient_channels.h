#pragma once

#include "isa/division.h"
#include "ops/avg_pool2d_backward/tile.h"

namespace ascend_grad {
namespace {

// Rows of grad_output, divided by what their windows count, all channels of the tile for each
// window. Kept for the rows of grad_input that need them.
template <class T>
class QuotientChannels : public PoolTile {
    using Op = AvgPool2dBackward;

  protected:
    using PoolTile::PoolTile;

    // Rows whose sum a row of grad_input needs: one, or two. They begin with the first group's
    // first window.
    struct Sums {
        const float* first;
        const float* second;
    };

    // Columns with equal (column + pad) / stride are a group, which overlap_ windows reach. Zeros
    // stand for windows that do not exist.
    void select_columns() {
        if (column_ == tile_column_ && channels_ == tile_channels_) return;
        tile_column_ = column_;
        tile_channels_ = channels_;
        const PoolAxis& axis = plan_.width;
        const int64_t overlap = pool_scratch::overlap(axis);
        const int64_t lowest = (column_ + axis.pad) / axis.stride;
        const int64_t highest = (column_ + columns_ - 1 + axis.pad) / axis.stride;
        start_ = lowest * axis.stride - axis.pad - column_;
        slot_window_ = lowest - overlap + 1;
        first_window_ = greatest(slot_window_, 0);
        last_window_ = least(highest, axis.windows - 1);
        groups_ = static_cast<int>(highest - lowest + 1);
        overlap_ = static_cast<int>(overlap);
        pitch_ = (channels_ + kPairLanes - 1) / kPairLanes * kPairLanes;
        row_elements_ = (groups_ + overlap_ - 1) * pitch_;
        const int64_t rows = pool_scratch::kept_rows(plan_);
        kept_ = static_cast<int>(rows) - 1;
        std::memset(rows_, 0, sizeof(float) * static_cast<size_t>(rows * row_elements_));
    }
    // Windows lie so many bytes apart.
    void start_plane(const char* plane, int64_t row_stride, int64_t column_stride) {
        plane_ = plane;
        window_stride_ = column_stride;
        window_row_stride_ = row_stride;
        for (int64_t& i : cached_) i = -1;
    }

    float divisor_of(int64_t i, int64_t j) const {
        if (plan_.divisor != 0.0f) return plan_.divisor;
        return counted(plan_.height, plan_.count_include_pad, i) *
               counted(plan_.width, plan_.count_include_pad, j);
    }
    const T* channels_at(int64_t i, int64_t j) const {
        return reinterpret_cast<const T*>(plane_ + i * window_row_stride_ + j * window_stride_);
    }

    Sums sums_of_rows(const Covering& rows) {
        const int64_t count = rows.last - rows.first + 1;
        if (count <= 0) {
            std::memset(rows_, 0, sizeof(float) * static_cast<size_t>(row_elements_));
            return {rows_, nullptr};
        }
        const float* from[pool_scratch::kRows];
        if (count <= kept_) {
            for (int64_t i = 0; i < count; ++i) from[i] = quotient_row(rows.first + i);
            if (count <= 2) return {from[0], count == 2 ? from[1] : nullptr};
            sum_rows(rows_, from, static_cast<int>(count), row_elements_);
            return {rows_, nullptr};
        }
        from[0] = rows_;
        for (int64_t i = rows.first; i <= rows.last; ++i) {
            from[1] = quotient_row(i);
            if (i == rows.first) {
                std::memcpy(rows_, from[1], sizeof(float) * static_cast<size_t>(row_elements_));
            } else {
                sum_rows(rows_, from, 2, row_elements_);
            }
        }
        return {rows_, nullptr};
    }

    int64_t start_ = 0;  // first column of the first group
    // Of a row's windows the first and last that exist, and the one that its first place is for.
    int64_t first_window_ = 0, last_window_ = 0, slot_window_ = 0;
    int groups_ = 0, overlap_ = 0, pitch_ = 0;
    int64_t window_stride_ = 0;

  private:
    const float* quotient_row(int64_t i) {
        const int slot = static_cast<int>(i & (kept_ - 1));
        float* row = rows_ + static_cast<int64_t>(slot + 1) * row_elements_;
        if (cached_[slot] == i) return row;
        cached_[slot] = i;
        for (int64_t j = first_window_; j <= last_window_;) {
            const float divisor = divisor_of(i, j);
            int64_t end = plan_.divisor != 0.0f ? last_window_ + 1 : j + 1;
            while (end <= last_window_ && divisor_of(i, end) == divisor) ++end;
            divide(row + (j - slot_window_) * pitch_, channels_at(i, j), end - j, divisor);
            j = end;
        }
        return row;
    }
    // The channels of neighbouring windows, +0 for -0.
    void divide(float* to, const T* from, int64_t windows, float divisor) {
        if (factor_ != 0.0f) {
            const Lanes factor = splat(factor_);
            return for_each_vector(to, from, windows,
                                   [&](Lanes x) { return x * factor + Lanes{}; });
        }
        if (has_reciprocal(divisor)) {
            if (divisor != last_divisor_) {
                last_divisor_ = divisor;
                reciprocal_ = reciprocal(divisor);
            }
            const Lanes high = splat(reciprocal_.high), rest = splat(reciprocal_.rest);
            TinyLanes tiny;
            for_each_vector(to, from, windows, [&](Lanes x) {
                if (kMayBeTiny<T>) tiny.look_at(x);
                return by_products(x, high, rest);
            });
            if (!kMayBeTiny<T> || !tiny.found()) return;
        }
        const Lanes lanes = splat(divisor);
        for_each_vector(to, from, windows, [&](Lanes x) { return x / lanes + Lanes{}; });
    }
    template <class Quotient>
    AG_INLINE void for_each_vector(float* to, const T* from, int64_t windows,
                                   const Quotient& quotient) const {
        const int channels = channels_, pitch = pitch_;
        const int64_t stride = window_stride_;
        for (; windows > 0; --windows, to += pitch) {
            int c = 0;
            for (; c + kLanes <= channels; c += kLanes)
                store_raw(to + c, quotient(rounded_by_mode<T>(load(from + c))));
            if (c < channels) {
                const Lanes x = load_first(from + c, channels - c);
                store_raw(to + c, quotient(rounded_by_mode<T>(x)));
            }
            from = reinterpret_cast<const T*>(reinterpret_cast<const char*>(from) + stride);
        }
    }

    const char* plane_ = nullptr;
    int64_t window_row_stride_ = 0, tile_column_ = -1;
    int tile_channels_ = 0, row_elements_ = 0, kept_ = 0;
    float last_divisor_ = 0.0f;
    Reciprocal reciprocal_{};
    int64_t cached_[pool_scratch::kRows];
    // [sum and kept rows][window][channel]
    alignas(64) float rows_[pool_scratch::kFloats + kPairLanes];
};

}  // namespace
}  // namespace ascend_grad
