#pragma once

#include "ops/avg_pool2d_backward/pool_planes.h"

namespace ascend_grad {
namespace {

// Planes of grad_output divided by what their windows count: vectors run along the whole plane,
// across the ends of rows.
template <class T>
class PlaneQuotients : public PoolPlanes<T> {
    using Op = AvgPool2dBackward;
    using Base = PoolPlanes<T>;

  protected:
    using Base::plan_;
    using Base::uses_reciprocals_;

    PlaneQuotients(const Op::Plan& plan, void* const* addresses, bool streaming)
        : Base(plan, addresses, streaming),
          row_windows_(static_cast<int>(plan.width.windows)),
          windows_(static_cast<int>(plan.height.windows) * row_windows_),
          counts_mask_(plan.divisor != 0.0f ? 0 : ~0) {
        prepare_division();
    }

    // Sets a plane's quotients, and zeros up to a vector behind the last one.
    AG_NOINLINE void divide(const T* from, float* to) const {
        this->divide_by(counts_, [&](const auto& quotient, const auto& look_at) AG_INLINE_LAMBDA {
            const int n = windows_, mask = counts_mask_;
            const uintptr_t ahead = plan_.prefetch;
            const auto set = [&](Lanes x, int i) AG_INLINE_LAMBDA {
                look_at([&](TinyLanes& tiny) AG_INLINE_LAMBDA { tiny.look_at(x); });
                store_raw(to + i, quotient(x, i & mask));
            };
            int i = 0;
            for (; i + kLanes <= n; i += kLanes) {
                prefetch<Cache::kFirst>(from + i, ahead, 1);
                set(load(from + i), i);
            }
            if (i < n) set(load_first(from + i, n - i), i);
        });
    }

    static constexpr int kMost = static_cast<int>(pool_scratch::kPlane);
    static_assert(kMost % kPairLanes == 0);

    const int row_windows_, windows_;  // of a row and a plane of grad_output

  private:
    void prepare_division() {
        if (plan_.divisor != 0.0f) {
            for (int i = 0; i < kLanes; ++i) counts_.set(i, plan_.divisor, uses_reciprocals_);
            return;
        }
        // Of a plane's rows few differ.
        float count_before = 0.0f;
        for (int at = 0; at < windows_; at += row_windows_) {
            const float rows = counted(plan_.height, plan_.count_include_pad, at / row_windows_);
            for (int c = 0; c < row_windows_; ++c) {
                if (rows == count_before) {
                    counts_.copy(at + c, at + c - row_windows_, uses_reciprocals_);
                } else {
                    const float columns = counted(plan_.width, plan_.count_include_pad, c);
                    counts_.set(at + c, rows * columns, uses_reciprocals_);
                }
            }
            count_before = rows;
        }
        for (int i = windows_; i < windows_ + kLanes; ++i) counts_.set(i, 1.0f, uses_reciprocals_);
    }

    const int counts_mask_;  // of a window's number: 0 where all counts are the same
    PoolCounts<kMost + kLanes> counts_;
};

}  // namespace
}  // namespace ascend_grad
