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
    using Base::first_at_;
    using Base::margin_;
    using Base::pitch_;
    using Base::plan_;
    using Base::row;
    using Base::windows_;

    static constexpr int kMaxKernel = 5;
    // Rows at once: those before them are still in the ring when theirs have been stored.
    static constexpr int kSumRows = Base::kFewestSlots - (kMaxKernel - 1);

    bool can_slide() const {
        return plan_.height.stride == 1 && plan_.height.kernel >= 3 &&
               plan_.height.kernel <= kMaxKernel &&
               this->template element_stride<T>(0) == sizeof(T);
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
        std::memset(row(i) - margin_, 0, sizeof(float) * static_cast<size_t>(pitch_));
    }

    // Rows whose quotients are loaded before those of rows [begin, end) and kept after them, in
    // other places of the ring or with the same values: divide_rows() may do it twice.
    template <int kBefore>
    struct Kept {
        const float* loaded[kBefore];
        float* stored[kBefore];
    };
    template <int kBefore>
    Kept<kBefore> kept(int64_t begin, int64_t end) {
        Kept<kBefore> rows;
        for (int k = 0; k < kBefore; ++k) {
            rows.loaded[k] = row(begin - kBefore + k);
            rows.stored[k] = row(end - kBefore + k);
        }
        return rows;
    }

    template <int kKernel>
    void slide_over(int64_t r, int count, float* to) {
        constexpr int kBefore = kKernel - 1;
        const int64_t first = r + plan_.height.pad;
        const int64_t last = first + count - 1, last_window = plan_.height.windows - 1;
        const int64_t column = first_at_, pitch = pitch_;
        const int windows = windows_;
        const auto add_windows = [&](int64_t begin, int64_t end,
                                     const auto& quotient) AG_INLINE_LAMBDA {
            const typename Base::template Loads<true> loads(*this);
            const auto rows = kept<kBefore>(begin, end);
            float* sums = to + (begin - first) * pitch + margin_ + column;
            for (int j = 0; j < loads.last(); j += kLanes) {
                add<kKernel>(rows, begin, end, column + j, sums + j, pitch,
                             [&](int64_t i)
                                 AG_INLINE_LAMBDA { return quotient(loads.whole(i, j), j); });
            }
            if (loads.last() == windows) return;
            const int j = loads.last();
            add<kKernel>(rows, begin, end, column + j, sums + j, pitch,
                         [&](int64_t i) AG_INLINE_LAMBDA { return quotient(loads.last(i), j); });
        };
        this->divide_rows(first, least(last, last_window), add_windows);
        const int64_t beyond = greatest(first, last_window + 1);
        if (beyond > last) return;
        const auto rows = kept<kBefore>(beyond, last + 1);
        float* sums = to + (beyond - first) * pitch + margin_ + column;
        for (int j = 0; j < windows; j += kLanes) {
            add<kKernel>(rows, beyond, last + 1, column + j, sums + j, pitch,
                         [](int64_t) { return Lanes{}; });
        }
    }
    // Of the vector at `column` of each row.
    template <int kKernel, class Rows, class Quotient>
    static AG_INLINE void add(const Rows& rows, int64_t begin, int64_t end, int64_t column,
                              float* sums, int64_t pitch, const Quotient& quotient) {
        constexpr int kBefore = kKernel - 1;
        Lanes x[kKernel];
        AG_EACH (k, kBefore) x[k] = load(rows.loaded[k] + column);
        for (int64_t i = begin; i < end; ++i, sums += pitch) {
            x[kBefore] = quotient(i);
            Lanes sum = x[0] + x[1];
            AG_EACH (k, kKernel - 2) sum = sum + x[k + 2];
            store_raw(sums, sum);
            AG_EACH (k, kBefore) x[k] = x[k + 1];
        }
        AG_EACH (k, kBefore) store_raw(rows.stored[k] + column, x[k]);
    }
};

}  // namespace
}  // namespace ascend_grad
