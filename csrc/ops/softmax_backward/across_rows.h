// Neighbouring rows whose equal elements follow each other in memory, as a run, with other memory
// between one run and the next.
#pragma once

#include <algorithm>
#include <type_traits>

#include "isa/prefetch.h"
#include "isa/stream.h"
#include "ops/softmax_backward/along_rows.h"
#include "ops/softmax_backward/op.h"
#include "ops/softmax_backward/planes.h"

namespace ascend_grad {
namespace {

// A chunk of a group of rows: `elements` runs of `columns`; those of g, y and out begin at `base`
// and `stride` bytes from each other.
template <class T>
class AcrossRows {
    static constexpr int kMaxColumns = static_cast<int>(SoftmaxBackward::kMaxColumns);
    static constexpr int kLevels = 5;  // of the tree over lanes, leaves included

  public:
    static constexpr int kScratch = kLevels * kMaxColumns;  // floats that sum() needs

    AcrossRows(char* const (&base)[3], const int64_t (&stride)[3], int columns, int elements,
               bool asks_into_second)
        : base_{base[0], base[1], base[2]},
          stride_(stride),
          columns_(columns),
          elements_(elements),
          asks_into_second_(asks_into_second) {}

    // scratch[c] = the sum of row c. Lane by lane, so that few sums of lanes wait for each other.
    // Few runs in registers, a vector of columns at a time.
    void sum(float* scratch) const {
        if (elements_ > kLanes || columns_ < kLanes) return sum_lanes(0, 1, 0, scratch);
        sum_columns(
            columns_, elements_,
            [&](int k, int c)
                AG_INLINE_LAMBDA { return load(input(0, k) + c) * load(input(1, k) + c); },
            [&](int c, Lanes x) AG_INLINE_LAMBDA { store_raw(scratch + c, x); });
    }

    // Results are rounded to U. From the last element on: what was summed last is in the nearest
    // cache. `sums` are readable to the end of a pair of vectors.
    template <class U>
    void write(const float* sums, bool streams) const {
        const bool are_alike = !streams || stride_[2] % kCacheLine == 0;
        const bool no_nan = make_no_nan(sums, columns_);
        int end = elements_;
        if (are_alike) {
            for (; end >= kTogether; end -= kTogether)
                write_runs<kTogether, U>(end - kTogether, sums, no_nan, streams);
        }
        for (; end > 0; --end) write_runs<1, U>(end - 1, sums, no_nan, streams);
    }

  private:
    // Runs that are walked together; one at a time takes up to 1.3 times as long (measured).
    static constexpr int kTogether = 4;

    const T* input(int operand, int element) const {
        return reinterpret_cast<const T*>(base_[operand] + element * stride_[operand]);
    }
    int pitch() const { return (columns_ + kPairLanes - 1) / kPairLanes * kPairLanes; }

    // to[c] = the tree over every `step`-th lane from `lane` on, of row c; `next` is the lane that
    // is summed after these.
    void sum_lanes(int lane, int step, int next, float* to) const {
        if (step == kLanes) return sum_lane(lane, next, to);
        const int other = lane + step;
        if (other >= elements_) return sum_lanes(lane, 2 * step, next, to);
        float* of_other = to + pitch();
        sum_lanes(lane, 2 * step, other, to);
        sum_lanes(other, 2 * step, next, of_other);
        for (int c = 0; c < columns_; c += kLanes)
            store_raw(to + c, load(to + c) + load(of_other + c));
    }
    void sum_lane(int lane, int next, float* to) const {
        std::fill_n(to, pitch(), 0.0f);
        constexpr int kStep = kTogether * kLanes;
        int i = lane;
        for (; i + kStep - kLanes < elements_; i += kStep)
            add_runs<kTogether>(i, i + 2 * kStep - kLanes < elements_ ? i + kStep : next, to);
        for (; i < elements_; i += kLanes)
            add_runs<1>(i, i + kLanes < elements_ ? i + kLanes : next, to);
    }
    // Adds every sixteenth element from `first` on; those from `next` on come after them.
    template <int kRuns>
    void add_runs(int first, int next, float* to) const {
        const T* g[kRuns];
        const T* y[kRuns];
        for (int k = 0; k < kRuns; ++k) {
            g[k] = input(0, first + k * kLanes);
            y[k] = input(1, first + k * kLanes);
        }
        for (int c = 0; c < columns_; c += kPairLanes) {
            LanePair sum = load_pair(to + c);
            for (int k = 0; k < kRuns; ++k) {
                prefetch_runs(g[k], y[k], c, next - first);
                sum = sum + products_of(g[k] + c, y[k] + c, columns_ - c);
            }
            store_raw(to + c, sum.low);
            store_raw(to + c + kLanes, sum.high);
        }
    }

    // Streaming, equally far from a cache line in all runs.
    template <int kRuns, class U>
    void write_runs(int first, const float* sums, bool no_nan, bool streams) const {
        const T* g[kRuns];
        const T* y[kRuns];
        U* out[kRuns];
        for (int k = 0; k < kRuns; ++k) {
            g[k] = input(0, first + k);
            y[k] = input(1, first + k);
            out[k] = reinterpret_cast<U*>(base_[2] + (first + k) * stride_[2]);
        }
        const auto write_first = [&](int c, int n) {
            for (int k = 0; k < kRuns; ++k) {
                store_first_pair(out[k] + c,
                                 load_first_pair(y[k] + c, n) *
                                     (load_first_pair(g[k] + c, n) - load_pair(sums + c)),
                                 n);
            }
        };
        int c = streams ? elements_to_line(out[0], columns_) : 0;
        if (c > 0) write_first(0, c);
        for (; c + kPairLanes <= columns_; c += kPairLanes) {
            for (int k = 0; k < kRuns; ++k) prefetch_runs(g[k], y[k], c, -kRuns);
            if constexpr (std::is_same_v<T, U>) {
                if (no_nan) {
                    const LanePair of_rows = permuted_as<T>(load_pair(sums + c));
                    for (int k = 0; k < kRuns; ++k) {
                        store_packed_to(out[k] + c,
                                        pack_permuted<T>(load_permuted(y[k] + c) *
                                                         (load_permuted(g[k] + c) - of_rows)),
                                        streams);
                    }
                    continue;
                }
            }
            const LanePair of_rows = load_pair(sums + c);
            for (int k = 0; k < kRuns; ++k) {
                const LanePair value = load_pair(y[k] + c) * (load_pair(g[k] + c) - of_rows);
                if (streams) {
                    stream_store_pair(out[k] + c, value);
                } else {
                    store_pair(out[k] + c, value);
                }
            }
        }
        if (c < columns_) write_first(c, columns_ - c);
    }
    // Asks for a pair of vectors some way after column c of both runs or, past their ends, as far
    // into those that are `to_next` elements from them.
    AG_INLINE void prefetch_runs(const T* g, const T* y, int c, int to_next) const {
        constexpr int64_t kSize = sizeof(T), kRunAhead = 2048;  // measured
        const int64_t end = columns_ * kSize;
        const int64_t at = c * kSize + least(kRunAhead, end);
        const T* const runs[2] = {g, y};
        for (int k = 0; k < 2; ++k) {
            // Unsigned: the stride of a single run may be any number.
            const auto further = static_cast<uintptr_t>(stride_[k]) *
                                 static_cast<uintptr_t>(static_cast<int64_t>(to_next));
            const auto ahead = static_cast<uintptr_t>(at);
            prefetch(runs[k], at < end ? ahead : ahead - static_cast<uintptr_t>(end) + further,
                     kPairLanes * kSize, asks_into_second_);
        }
    }

    char* const base_[3];
    const int64_t (&stride_)[3];
    const int columns_;
    const int elements_;
    const bool asks_into_second_;
};

}  // namespace
}  // namespace ascend_grad
