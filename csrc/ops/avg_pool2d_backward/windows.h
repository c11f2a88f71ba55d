// Which windows cover an element, and what each counts.
#pragma once

#include "isa/lanes.h"
#include "ops/avg_pool2d_backward/op.h"

namespace ascend_grad {
namespace {

// Windows [first, last] that cover element x of an axis; last < first where none does.
struct Covering {
    int64_t first, last;
};
inline Covering covering(const PoolAxis& axis, int64_t x) {
    const int64_t beyond = x + axis.pad - axis.kernel;
    return {beyond < 0 ? 0 : beyond / axis.stride + 1,
            least(axis.windows - 1, (x + axis.pad) / axis.stride)};
}
// The windows that cover one row after another, without dividing.
class RowWindows {
  public:
    RowWindows(const PoolAxis& axis, int64_t row)
        : axis_(axis), row_(row), covering_(ascend_grad::covering(axis, row)) {
        next_start_ = (covering_.last + 1) * axis.stride - axis.pad;
        first_end_ = covering_.first * axis.stride + (axis.kernel - axis.pad);
    }
    const Covering& covering() const { return covering_; }
    // Rows from this one on that the same windows cover, at most `limit`.
    int64_t count(int64_t limit) const {
        if (covering_.last + 1 < axis_.windows) limit = least(limit, next_start_ - row_);
        return least(limit, first_end_ - row_);
    }
    // By no more rows than count() says.
    void advance(int64_t rows) {
        row_ += rows;
        if (row_ >= next_start_ && covering_.last + 1 < axis_.windows) {
            ++covering_.last;
            next_start_ += axis_.stride;
        }
        if (row_ >= first_end_) {
            ++covering_.first;
            first_end_ += axis_.stride;
        }
    }

  private:
    const PoolAxis& axis_;
    int64_t row_;
    Covering covering_;
    int64_t next_start_, first_end_;
};

// Elements of window i that count for the divisor along this axis.
inline float counted(const PoolAxis& axis, bool count_include_pad, int64_t i) {
    return static_cast<float>(axis.counted(i, count_include_pad));
}
// The last window that counts all elements of a kernel, if one does; else any.
inline int64_t last_whole_window(const PoolAxis& axis, bool count_include_pad) {
    const int64_t end = axis.extent + (count_include_pad ? axis.pad : 0);
    return (end + axis.pad - axis.kernel) / axis.stride;
}

// to[0..elements) = the sum of two rows or more, in their order. kCount 0: any number.
template <int kCount>
inline void sum_rows(float* to, const float* const* rows, int count, int elements) {
    if (kCount > 0) count = kCount;
    for (int k = 0; k < elements; k += kLanes) {
        Lanes x = load(rows[0] + k) + load(rows[1] + k);
        for (int i = 2; i < count; ++i) x = x + load(rows[i] + k);
        store_raw(to + k, x);
    }
}
inline void sum_rows(float* to, const float* const* rows, int count, int elements) {
    if (count == 3) return sum_rows<3>(to, rows, count, elements);
    if (count == 5) return sum_rows<5>(to, rows, count, elements);
    sum_rows<0>(to, rows, count, elements);
}
}  // namespace
}  // namespace ascend_grad
