#pragma once

#include "isa/every_second.h"
#include "ops/avg_pool2d_backward/tile.h"

namespace ascend_grad {
namespace {

// Rows of grad_output, divided by what their windows count, of the windows that reach the tile's
// columns. They lie in a ring: a row stays until the one that takes its slot is made.
template <class T>
class QuotientRows : public PoolTile {
    using Op = AvgPool2dBackward;

  protected:
    using PoolTile::PoolTile;

    static constexpr int kFewestSlots = 16, kMostSlots = pool_scratch::kRows;
    static constexpr int kMaxPitch =
        pool_scratch::kMaxMargin + pool_scratch::kMaxColumns + 4 * kLanes;

    // Columns with equal (column + pad) / stride are a group; window lowest_ starts with the first.
    void select_columns() {
        const PoolAxis& axis = plan_.width;
        lowest_ = (column_ + axis.pad) / axis.stride;
        const int pixel = pixel_ = static_cast<int>(plan_.pixel);
        const int64_t highest = (column_ + columns_ / pixel - 1 + axis.pad) / axis.stride;
        first_window_ = greatest(lowest_ - pool_scratch::overlap(axis) + 1, 0);
        const int64_t windows = least(highest + 1, axis.windows) - first_window_;
        windows_ = static_cast<int>(greatest(0, windows)) * pixel;
        first_at_ = static_cast<int>(first_window_ - lowest_) * pixel;
        groups_ = static_cast<int>(highest - lowest_ + 1) * pixel;
        margin_ = static_cast<int>(pool_scratch::margin(plan_));
        pitch_ = margin_ + (groups_ + 3 * kLanes) / kLanes * kLanes;
        slots_count_ = static_cast<int>(pool_scratch::ring_rows(plan_));
        const int64_t rows = least(slots_count_, plan_.height.windows);
        std::memset(slots_, 0, sizeof(float) * static_cast<size_t>(rows * pitch_));
        prepare_division();
    }
    void start_plane(const char* plane) {
        plane_ = plane;
        // Vectors that reach beyond a row are read where more of the plane follows without a gap.
        const bool is_dense = plan_.width_stride[0] > 0 &&
                              plan_.height_stride[0] == plan_.width.windows * plan_.width_stride[0];
        plane_end_ = is_dense ? plane + (plan_.height.windows - 1) * plan_.height_stride[0] +
                                    (plan_.width.windows - 1) * plan_.width_stride[0] +
                                    static_cast<int64_t>(sizeof(T)) * plan_.pixel
                              : plane;
    }
    AG_NOINLINE void make_rows(int64_t first, int64_t last) {
        if (windows_ == 0) return;  // all zero
        divide_rows(first, last,
                    [&](int64_t begin, int64_t end, const auto& quotient) AG_INLINE_LAMBDA {
                        if (element_stride<T>(0) == kSize) {
                            store_rows<true>(begin, end, quotient);
                        } else {
                            store_rows<false>(begin, end, quotient);
                        }
                    });
    }
    // Calls function(begin, end, quotient) for the rows [first, last], those of equal counts
    // together; quotient(elements, number of the first) gives +0 for -0. Where products were
    // inexact, it is called again for the same rows.
    template <class Function>
    AG_INLINE void divide_rows(int64_t first, int64_t last, const Function& function) {
        while (first <= last) {
            int64_t end = first + 1;
            float count = 1.0f;
            if (plan_.divisor != 0.0f) {
                end = last + 1;
            } else {
                count = counted(plan_.height, plan_.count_include_pad, first);
                if (first <= last_whole_row_ &&
                    plan_.height.counted(first, plan_.count_include_pad) == plan_.height.kernel) {
                    end = least(last, last_whole_row_) + 1;
                } else {
                    while (end <= last &&
                           count == counted(plan_.height, plan_.count_include_pad, end))
                        ++end;
                }
            }
            if (!uses_reciprocals_ || !multiply(first, end, count, function))
                divide(first, end, count, function);
            first = end;
        }
    }
    // Loads of a row's windows, sixteen from number j on. kFollow: without a gap in memory.
    template <bool kFollow>
    class Loads {
      public:
        explicit Loads(const QuotientRows& rows)
            : rows_(rows),
              from_(rows.plane_ + rows.first_window_ * rows.plan_.width_stride[0]),
              end_(reinterpret_cast<const T*>(rows.plane_end_)),
              stride_(rows.plan_.height_stride[0]),
              step_(rows.template element_stride<T>(0)),
              ahead_(rows.plan_.prefetch),
              windows_(rows.windows_),
              rounds_(sizeof(T) == sizeof(float) && rows.plan_.mode != Op::Mode::kFloat32) {}

        // Where the first vector starts that is not whole, or behind the last.
        int last() const { return windows_ / kLanes * kLanes; }
        AG_INLINE Lanes whole(int64_t i, int j) const {
            const char* p = address(i, j);
            if (kFollow) return rounded(load(reinterpret_cast<const T*>(p)));
            return first(p, kLanes);
        }
        AG_INLINE Lanes last(int64_t i) const {
            return first(address(i, last()), windows_ % kLanes);
        }

      private:
        AG_INLINE const char* address(int64_t i, int j) const {
            const char* p = from_ + i * stride_ + j * step_;
            prefetch<Cache::kFirst>(p, ahead_, 1);
            return p;
        }
        AG_INLINE Lanes rounded(Lanes x) const {
            return rounds_ ? rows_.template rounded_by_mode<T>(x) : x;
        }
        // n elements, none of them beyond the plane.
        AG_INLINE Lanes first(const char* bytes, int n) const {
            const T* p = reinterpret_cast<const T*>(bytes);
            if constexpr (kFollow) {
#if !defined(__AVX512F__)
                if (p + kLanes <= end_) return rounded(keep_first(load(p), n));
#endif
                return rounded(load_first(p, n));
            }
            if (step_ == 2 * kSize) {
                if (p + 2 * kLanes <= end_) return rounded(keep_first(load_every_second(p), n));
                return rounded(load_first_every_second(p, n));
            }
            float x[kLanes] = {};
            load_run<T>(x, bytes, step_, n);
            return rounded(load(x));
        }

        const QuotientRows& rows_;
        const char* from_;
        const T* end_;
        const int64_t stride_, step_;
        const uintptr_t ahead_;
        const int windows_;
        const bool rounds_;
    };
    // Where row i holds the quotient of window lowest_. Its neighbours lie beside it; zeros where
    // there are none.
    const float* row(int64_t i) const {
        return slots_ + (i & (slots_count_ - 1)) * pitch_ + margin_;
    }
    float* row(int64_t i) {
        return slots_ + (i & (slots_count_ - 1)) * pitch_ + margin_;
    }

    int64_t lowest_ = 0;
    int pixel_ = 1, slots_count_ = 0;
    // Elements: groups and windows by those of a pixel; the first window's from a row's place on.
    int groups_ = 0, windows_ = 0, first_at_ = 0;
    int margin_ = 0, pitch_ = 0;

  private:
    static constexpr int kReciprocals = 2048;
    static constexpr auto kSize = static_cast<int64_t>(sizeof(T));

    template <class Function>
    AG_INLINE void divide(int64_t first, int64_t end, float count, const Function& function) {
        if (factor_ != 0.0f) {
            const Lanes factor = splat(factor_);
            return function(first, end,
                            [&](Lanes x, int) AG_INLINE_LAMBDA { return x * factor + Lanes{}; });
        }
        const Lanes rows = splat(count);
        function(first, end, [&](Lanes x, int j) AG_INLINE_LAMBDA {
            return x / (rows * load(counts_ + j)) + Lanes{};
        });
    }
    // Whether that gave the quotients.
    template <class Function>
    AG_INLINE bool multiply(int64_t first, int64_t end, float count, const Function& function) {
        const float* high = reciprocals_of_rows(count);
        const float* rest = high + kReciprocals;
        TinyLanes tiny;
        function(first, end, [&](Lanes x, int j) AG_INLINE_LAMBDA {
            if (kMayBeTiny<T>) tiny.look_at(x);
            return by_products(x, load(high + j), load(rest + j));
        });
        return !kMayBeTiny<T> || !tiny.found();
    }
    // Sets rows [first, end) to the quotients.
    template <bool kFollow, class Quotient>
    AG_INLINE void store_rows(int64_t first, int64_t end, const Quotient& quotient) {
        const Loads<kFollow> loads(*this);
        const int last = loads.last();
        const int64_t pitch = pitch_;
        const bool has_rest = last < windows_;
        const int mask = slots_count_ - 1;
        float* const slots = slots_ + margin_ + first_at_;
        for (; last == 0 && first < end; ++first) {
            store_raw(slots + (first & mask) * pitch, quotient(loads.last(first), 0));
        }
        for (int64_t i = first; i < end; ++i) {
            float* to = slots + (i & mask) * pitch;
            for (int j = 0; j < last; j += kLanes)
                store_raw(to + j, quotient(loads.whole(i, j), j));
            if (has_rest) store_raw(to + last, quotient(loads.last(i), last));
        }
    }
    void prepare_division() {
        last_whole_row_ = last_whole_window(plan_.height, plan_.count_include_pad);
        const bool constant = plan_.divisor != 0.0f;
        for (int j = 0; j < windows_ + kLanes; ++j) {
            counts_[j] = constant       ? plan_.divisor
                         : j < windows_ ? counted(plan_.width, plan_.count_include_pad,
                                                  first_window_ + j / pixel_)
                                        : 1.0f;
        }
        uses_reciprocals_ = uses_reciprocals();
        reciprocal_pitch_ = (windows_ + kLanes) / kLanes * kLanes;
        static_assert(kMaxPitch <= kReciprocals);
        reciprocal_sets_ = kMaxSets;
        while (reciprocal_sets_ * reciprocal_pitch_ > kReciprocals) reciprocal_sets_ /= 2;
        for (int k = 0; k < kMaxSets; ++k) rows_of_set_[k] = -1.0f;
    }
    // 1 / (count * counts_[j]); the rests lie kReciprocals further.
    const float* reciprocals_of_rows(float count) {
        const int set = static_cast<int>(count) & (reciprocal_sets_ - 1);
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

    static constexpr int kMaxSets = 8;  // a power of two: a division would cost what a row does

    int64_t first_window_ = 0, last_whole_row_ = 0;
    const char* plane_ = nullptr;
    const char* plane_end_ = nullptr;
    bool uses_reciprocals_ = false;
    int reciprocal_pitch_ = 0, reciprocal_sets_ = 0;
    float rows_of_set_[kMaxSets];
    alignas(64) float counts_[kMaxPitch];
    alignas(64) float reciprocals_[2 * kReciprocals];
    alignas(64) float slots_[pool_scratch::kRing];
};

}  // namespace
}  // namespace ascend_grad
