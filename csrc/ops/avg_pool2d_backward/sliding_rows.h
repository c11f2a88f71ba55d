#pragma once

#include "ops/avg_pool2d_backward/quotient_rows.h"

namespace ascend_grad {
namespace {

// Sums over rows of windows one row apart: each row of quotients is loaded once and stays in
// registers for the sums of the rows that it belongs to.
template <class T>
class SlidingRows : public QuotientRows<T> {
    using Base = QuotientRows<T>;

  protected:
    using Base::Base;
    using Base::first_window_;
    using Base::kSlots;
    using Base::lowest_;
    using Base::pitch_;
    using Base::plan_;
    using Base::row;
    using Base::windows_;

    static constexpr int kMaxKernel = 5;
    // Rows at once: those before them are still in the ring when theirs have been stored.
    static constexpr int kSumRows = kSlots - (kMaxKernel - 1);

    static bool can_slide(const AvgPool2dBackward::Plan& plan) {
        return plan.height.stride == 1 && plan.height.kernel >= 3 &&
               plan.height.kernel <= kMaxKernel && plan.width_stride[0] == sizeof(T);
    }
    // Makes the quotients that the sums of row r need beside those of window r + pad.
    void start_sliding(int64_t r) {
        const int64_t end = r + plan_.height.pad;
        const int64_t begin = end - (plan_.height.kernel - 1);
        for (int64_t i = begin; i < end; ++i) {
            if (i < 0 || i >= plan_.height.windows) clear(i);
        }
        this->make_rows(greatest(begin, 0), least(end, plan_.height.windows) - 1);
    }
    // The sums of rows [r, r + count) to rows `pitch_` apart; row r - 1 came before, or
    // start_sliding().
    void slide(int64_t r, int count, float* to) {
        if (plan_.height.kernel == 3) return slide_over<3>(r, count, to);
        if (plan_.height.kernel == 4) return slide_over<4>(r, count, to);
        slide_over<5>(r, count, to);
    }

  private:
    void clear(int64_t i) {
        std::memset(row(i) - kLanes, 0, sizeof(float) * static_cast<size_t>(pitch_));
    }

    template <int kKernel>
    void slide_over(int64_t r, int count, float* to) {
        const int64_t first = r + plan_.height.pad;
        const int64_t last = first + count - 1, last_window = plan_.height.windows - 1;
        const auto add_windows = [&](int64_t begin, int64_t end,
                                     const auto& quotient) AG_INLINE_LAMBDA {
            const typename Base::template Loads<1> loads(*this);
            float* sums = to + (begin - first) * pitch_;
            for (int j = 0; j < loads.last(); j += kLanes) {
                add<kKernel>(begin, end, j, sums, [&](int64_t i) AG_INLINE_LAMBDA {
                    return quotient(loads.whole(i, j), j) + Lanes{};
                });
            }
            if (loads.last() == windows_) return;
            add<kKernel>(begin, end, loads.last(), sums, [&](int64_t i) AG_INLINE_LAMBDA {
                return quotient(loads.last(i), loads.last()) + Lanes{};
            });
        };
        this->divide_rows(first, least(last, last_window), add_windows);
        const int64_t beyond = greatest(first, last_window + 1);
        for (int j = 0; j < windows_ && beyond <= last; j += kLanes) {
            add<kKernel>(beyond, last + 1, j, to + (beyond - first) * pitch_,
                         [](int64_t) { return Lanes{}; });
        }
    }
    // Of the vector that starts with quotient j of a row.
    template <int kKernel, class Quotient>
    AG_INLINE void add(int64_t begin, int64_t end, int j, float* sums, const Quotient& quotient) {
        constexpr int kBefore = kKernel - 1;
        const int64_t column = first_window_ - lowest_ + j;
        Lanes x[kKernel];
        for (int k = 0; k < kBefore; ++k) x[k] = load(row(begin - kBefore + k) + column);
        float* to = sums + kLanes + column;
        for (int64_t i = begin; i < end; ++i, to += pitch_) {
            x[kBefore] = quotient(i);
            Lanes sum = x[0] + x[1];
            for (int k = 2; k < kKernel; ++k) sum = sum + x[k];
            store_raw(to, sum);
            for (int k = 0; k < kBefore; ++k) x[k] = x[k + 1];
        }
        for (int k = 0; k < kBefore; ++k) store_raw(row(end - kBefore + k) + column, x[k]);
    }
};

}  // namespace
}  // namespace ascend_grad
