#pragma once

#include "isa/division.h"
#include "ops/avg_pool2d_backward/tile.h"

namespace ascend_grad {
namespace {

// Rows of grad_output, divided by what their windows count, of the windows that reach the tile's
// columns. They lie in a ring: a row
// stays until the one kSlots later is made.
template <class T>
class QuotientRows : public PoolTile<T> {
    using Op = AvgPool2dBackward;
    using Base = PoolTile<T>;

  protected:
    using Base::Base;
    using Base::column_;
    using Base::columns_;
    using Base::factor_;
    using Base::plan_;
    using Base::rounded_by_mode;
    using Base::streaming_;

    static constexpr int kSlots = pool_scratch::kRows;
    static constexpr int kMaxPitch = pool_scratch::kMaxColumns + 4 * kLanes;

    // Columns with equal (column + pad) / stride are a group; window lowest_ starts with the first.
    void select_columns() {
        const PoolAxis& axis = plan_.width;
        lowest_ = (column_ + axis.pad) / axis.stride;
        const int64_t highest = (column_ + columns_ - 1 + axis.pad) / axis.stride;
        first_window_ = greatest(lowest_ - pool_scratch::overlap(axis) + 1, 0);
        windows_ = static_cast<int>(greatest(0, least(highest + 1, axis.windows) - first_window_));
        groups_ = static_cast<int>(highest - lowest_ + 1);
        pitch_ = (groups_ + 4 * kLanes) / kLanes * kLanes;
        std::memset(slots_, 0, sizeof(float) * static_cast<size_t>(kSlots * pitch_));
        prepare_division();
    }
    void start_plane(const char* plane) {
        plane_ = plane;
        // Vectors that reach beyond a row are read where more of the plane follows.
        const bool ascends = plan_.height_stride[0] > 0 && plan_.width_stride[0] > 0;
        plane_end_ = ascends ? plane + (plan_.height.windows - 1) * plan_.height_stride[0] +
                                   (plan_.width.windows - 1) * plan_.width_stride[0] + sizeof(T)
                             : plane;
    }
    // Rows [first, last], those of equal counts together.
    void make_rows(int64_t first, int64_t last) {
        while (first <= last) {
            int64_t end = first + 1;
            float count = 1.0f;
            if (plan_.divisor != 0.0f) {
                end = last + 1;
            } else {
                count = counted(plan_.height, plan_.count_include_pad, first);
                while (end <= last && count == counted(plan_.height, plan_.count_include_pad, end))
                    ++end;
            }
            if (!uses_reciprocals_ || !multiply_rows(first, end, count))
                divide_rows(first, end, count);
            first = end;
        }
    }
    // Where row i holds the quotient of window lowest_. Its neighbours lie beside it; zeros where
    // there are none.
    const float* row(int64_t i) const { return slots_ + (i & (kSlots - 1)) * pitch_ + kLanes; }

    int64_t lowest_ = 0;
    int groups_ = 0, pitch_ = 0;

  private:
    static constexpr int kReciprocals = 2048;

    void divide_rows(int64_t first, int64_t end, float count) {
        if (factor_ != 0.0f) {
            const Lanes factor = splat(factor_);
            return for_each_vector(first, end, [&](Lanes x, int) { return x * factor; });
        }
        const Lanes rows = splat(count);
        for_each_vector(first, end, [&](Lanes x, int j) { return x / (rows * load(counts_ + j)); });
    }
    // Whether that gave the quotients.
    bool multiply_rows(int64_t first, int64_t end, float count) {
        const float* high = reciprocals_of_rows(count);
        const float* rest = high + kReciprocals;
        TinyLanes tiny;
        for_each_vector(first, end, [&](Lanes x, int j) {
            if (kMayBeTiny<T>) tiny.look_at(x);
            return by_products(x, load(high + j), load(rest + j));
        });
        return !kMayBeTiny<T> || !tiny.found();
    }
    // Sets rows [first, end) to the quotients of what function(elements, number of the first)
    // returns, and +0 for -0.
    template <class Function>
    AG_INLINE void for_each_vector(int64_t first, int64_t end, const Function& function) {
        constexpr auto kSize = static_cast<int64_t>(sizeof(T));
        if (plan_.width_stride[0] == kSize) return load_rows<1>(first, end, function);
        if (plan_.width_stride[0] == 2 * kSize) return load_rows<2>(first, end, function);
        load_rows<0>(first, end, function);
    }
    // kStep: elements from one window to the next; 0: any.
    template <int kStep, class Function>
    AG_INLINE void load_rows(int64_t first, int64_t end, const Function& function) {
        constexpr int kBytes = static_cast<int>(sizeof(T));
        const char* from = plane_ + first_window_ * plan_.width_stride[0];
        float* slots = slots_ + kLanes + (first_window_ - lowest_);
        const T* plane_end = reinterpret_cast<const T*>(plane_end_);
        const int64_t stride = plan_.height_stride[0], pitch = pitch_;
        const int windows = windows_;
        if (kStep != 0 && windows <= kLanes) {
            // The last rows, whose vectors would leave the plane, are left to the loop below.
            const char* const last = plane_end_ - kStep * kLanes * static_cast<int64_t>(sizeof(T));
            const char* p = from + first * stride;
            for (; first < end && p <= last; ++first, p += stride) {
                const Lanes x = kStep == 1 ? load(reinterpret_cast<const T*>(p))
                                           : load_every_second(reinterpret_cast<const T*>(p));
                store_raw(slots + (first & (kSlots - 1)) * pitch,
                          function(rounded_by_mode(keep_first(x, windows)), 0) + Lanes{});
            }
        }
        for (int64_t i = first; i < end; ++i) {
            const T* p = reinterpret_cast<const T*>(from + i * stride);
            float* to = slots + (i & (kSlots - 1)) * pitch;
            if (kStep == 0) {
                load_run<T>(to, from + i * stride, plan_.width_stride[0], windows);
                for (int j = windows; j % kLanes != 0; ++j) to[j] = 0.0f;
            }
            for (int j = 0; j < windows; j += kLanes) {
                const Lanes x = kStep == 0
                                    ? load(to + j)
                                    : load_windows<kStep>(p + kStep * j, plane_end, windows - j);
                if (streaming_) prefetch(from + i * stride + kStep * j * kBytes);
                store_raw(to + j, function(rounded_by_mode(x), j) + Lanes{});
            }
        }
    }
    // What will be read some rows later, from memory: streaming stores keep the hardware from doing
    // so in time (measured: 3 x 3 windows in float gain a tenth). An address that does not exist
    // does no harm.
    static AG_INLINE void prefetch(const char* p) {
        constexpr intptr_t kAhead = 2048;
        __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<intptr_t>(p) + kAhead));
    }
    template <int kStep>
    static AG_INLINE Lanes load_windows(const T* p, const T* end, int n) {
        if (n >= kLanes && kStep == 1) return load(p);
        if (p + kStep * kLanes <= end) {
            const Lanes x = kStep == 1 ? load(p) : load_every_second(p);
            return n >= kLanes ? x : keep_first(x, n);
        }
        n = n < kLanes ? n : kLanes;
        return kStep == 1 ? load_first(p, n) : load_first_every_second(p, n);
    }

    void prepare_division() {
        const bool constant = plan_.divisor != 0.0f;
        for (int j = 0; j < windows_ + kLanes; ++j) {
            counts_[j] = constant ? plan_.divisor
                         : j < windows_
                             ? counted(plan_.width, plan_.count_include_pad, first_window_ + j)
                             : 1.0f;
        }
        uses_reciprocals_ = factor_ == 0.0f &&
                            has_reciprocal(constant ? plan_.divisor
                                                    : static_cast<float>(plan_.height.kernel) *
                                                          static_cast<float>(plan_.width.kernel));
        reciprocal_pitch_ = (windows_ + kLanes) / kLanes * kLanes;
        reciprocal_sets_ = static_cast<int>(least(kReciprocals / reciprocal_pitch_, kMaxSets));
        for (int k = 0; k < kMaxSets; ++k) rows_of_set_[k] = -1.0f;
    }
    // 1 / (count * counts_[j]); the rests lie kReciprocals further.
    const float* reciprocals_of_rows(float count) {
        const int set = static_cast<int>(count) % reciprocal_sets_;
        float* high = reciprocals_ + set * reciprocal_pitch_;
        if (rows_of_set_[set] == count) return high;
        rows_of_set_[set] = count;
        for (int j = 0; j < reciprocal_pitch_; ++j) {
            const Reciprocal r = reciprocal(count * counts_[j]);
            high[j] = r.high;
            high[kReciprocals + j] = r.rest;
        }
        return high;
    }

    static constexpr int kMaxSets = 8;

    const char* plane_ = nullptr;
    const char* plane_end_ = nullptr;
    int64_t first_window_ = 0;
    int windows_ = 0;
    bool uses_reciprocals_ = false;
    int reciprocal_pitch_ = 0, reciprocal_sets_ = 0;
    float rows_of_set_[kMaxSets];
    alignas(64) float counts_[pool_scratch::kMaxColumns + 3 * kLanes];
    alignas(64) float reciprocals_[2 * kReciprocals];
    alignas(64) float slots_[kSlots * kMaxPitch];
};

}  // namespace
}  // namespace ascend_grad
