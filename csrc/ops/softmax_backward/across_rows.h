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

// Rows of a group, and those after it of which it writes elements, fewer than a line of these.
constexpr int kMaxSums = static_cast<int>(SoftmaxBackward::kMaxColumns) + kPairLanes;
static_assert(kCacheLine / sizeof(Float16) <= kPairLanes);

// Where a group's part of a run of the result ends: from its first cache line on if `from_line`,
// and up to the one that begins within `beyond` columns after it.
struct LineEnds {
    bool from_line;
    int beyond;
    bool operator==(const LineEnds& other) const {
        return from_line == other.from_line && beyond == other.beyond;
    }
};

// A chunk of a group of rows: `elements` runs of `columns`; those of g, y and out begin at `base`
// and `stride` bytes from each other.
template <class T>
class AcrossRows {
    static constexpr int kLevels = 5;  // of the tree over lanes, leaves included

  public:
    static constexpr int kScratch = kLevels * kMaxSums;  // floats that sum() needs

    AcrossRows(char* const (&base)[3], const int64_t (&stride)[3], int columns, int elements,
               bool by_columns, bool asks_into_second)
        : base_{base[0], base[1], base[2]},
          stride_(stride),
          columns_(columns),
          elements_(elements),
          by_columns_(by_columns),
          asks_into_second_(asks_into_second) {}

    // scratch[c] = the sum of row c. Lane by lane, so that few sums of lanes wait for each other.
    // Few runs in registers, a vector of columns at a time.
    void sum(float* scratch) const {
        if (!by_columns_ || columns_ < kLanes) return sum_lanes(0, 1, 0, scratch);
        sum_columns(
            columns_, elements_,
            [&](int k, int c)
                AG_INLINE_LAMBDA { return load(input(0, k) + c) * load(input(1, k) + c); },
            [&](int c, Lanes x) AG_INLINE_LAMBDA { store_raw(scratch + c, x); });
    }

    // Results are rounded to U. From the last element on: what was summed last is in the nearest
    // cache. There are `count` sums, readable to the end of a pair of vectors. The i-th run is
    // written as far as ends_of(i) says, which is where lines begin if `in_lines`.
    template <class U, class EndsOf>
    void write(const float* sums, int count, bool streams, bool in_lines,
               const EndsOf& ends_of) const {
        const bool are_alike = (!streams && !in_lines) || stride_[2] % kCacheLine == 0;
        const bool no_nan = kHasPermuted<T, U> && make_no_nan(sums, count);
        for (int end = elements_; end > 0;) {
            const LineEnds ends = ends_of(end - 1);
            if (are_alike && end >= kTogether && ends_of(end - kTogether) == ends) {
                end -= kTogether;
                write_runs<kTogether, U>(end, sums, ends, no_nan, streams);
            } else {
                --end;
                write_runs<1, U>(end, sums, ends, no_nan, streams);
            }
        }
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
    // Runs that are walked together, and how many bytes behind an element of each input what is
    // asked for lies.
    template <int kRuns, class U>
    struct Runs {
        const T* g[kRuns];
        const T* y[kRuns];
        U* out[kRuns];
        uintptr_t ahead[2];
    };
    // A loop's own. One run stays in registers; of several, GCC 12 would keep a pointer for each
    // operand in memory and add to it for every vector, where it knows them (measured: up to 1.25
    // times the time).
    template <int kRuns, class U>
    using Held = std::conditional_t<kRuns == 1, const Runs<kRuns, U>, const Runs<kRuns, U>&>;

    // Adds every sixteenth element from `first` on; those from `next` on come after them.
    template <int kRuns>
    void add_runs(int first, int next, float* to) const {
        Runs<kRuns, T> runs{};
        for (int k = 0; k < kRuns; ++k) {
            runs.g[k] = input(0, first + k * kLanes);
            runs.y[k] = input(1, first + k * kLanes);
        }
        const int end = for_each_part(runs.ahead, 0, columns_, next - first,
                                      [&](int c, int until) { add_pairs(runs, to, c, until); });
        if (end == columns_) return;
        const int n = columns_ - end;
        LanePair sum = load_pair(to + end);
        for (int k = 0; k < kRuns; ++k) {
            ask(runs, k, static_cast<size_t>(end));
            sum = sum + load_first_pair(runs.g[k] + end, n) * load_first_pair(runs.y[k] + end, n);
        }
        store_raw(to + end, sum.low);
        store_raw(to + end + kLanes, sum.high);
    }

    // Streaming, or where ends are lines', equally far from one in all runs.
    template <int kRuns, class U>
    void write_runs(int first, const float* sums, LineEnds ends, bool no_nan, bool streams) const {
        Runs<kRuns, U> runs;
        for (int k = 0; k < kRuns; ++k) {
            runs.g[k] = input(0, first + k);
            runs.y[k] = input(1, first + k);
            runs.out[k] = reinterpret_cast<U*>(base_[2] + (first + k) * stride_[2]);
        }
        const auto write_first = [&](int c, int n) {
            for (int k = 0; k < kRuns; ++k) {
                store_first_pair(runs.out[k] + c,
                                 load_first_pair(runs.y[k] + c, n) *
                                     (load_first_pair(runs.g[k] + c, n) - load_pair(sums + c)),
                                 n);
            }
        };
        const int head = streams || ends.from_line ? elements_to_line(runs.out[0], columns_) : 0;
        if (head > 0 && !ends.from_line) write_first(0, head);
        const int columns = columns_ + elements_to_line(runs.out[0] + columns_, ends.beyond);
        const int end = for_each_part(runs.ahead, head, columns, -kRuns, [&](int c, int until) {
            with_constant<kHasPermuted<T, U>>(no_nan, [&](auto permutes) {
                with_constant(streams, [&](auto past_caches) {
                    write_pairs(runs, sums, c, until, permutes, past_caches);
                });
            });
        });
        if (end < columns) write_first(end, columns - end);
    }

    // Calls function(begin, end) for the pairs of vectors of a run from column `head` on, in two
    // parts: what is asked for lies further along the run and, past its end, as far along the one
    // that is `to_next` elements from it. Returns the end of the last pair.
    template <class Function>
    int for_each_part(uintptr_t (&ahead)[2], int head, int columns, int to_next,
                      const Function& function) const {
        constexpr int64_t kSize = sizeof(T);
        constexpr int kRunAhead = 2048 / sizeof(T);  // measured
        const auto in_pairs = [head](int c) {
            return c > head ? head + (c - head) / kPairLanes * kPairLanes : head;
        };
        const int turn = in_pairs(columns - kRunAhead), end = in_pairs(columns);
        const int64_t along = least(kRunAhead, columns_) * kSize;
        if (head < turn) {
            for (uintptr_t& bytes : ahead) bytes = static_cast<uintptr_t>(along);
            function(head, turn);
        }
        for (int k = 0; k < 2; ++k) {
            // Unsigned: the stride of a single run may be any number.
            ahead[k] = static_cast<uintptr_t>(along - columns_ * kSize) +
                       static_cast<uintptr_t>(stride_[k]) *
                           static_cast<uintptr_t>(static_cast<int64_t>(to_next));
        }
        function(turn, end);
        return end;
    }

    // Columns [begin, end). Not inlined, see Held.
    template <int kRuns>
    AG_NOINLINE void add_pairs(const Runs<kRuns, T>& of_runs, float* to, int begin, int end) const {
        Held<kRuns, T> runs = of_runs;
        for (auto c = static_cast<size_t>(begin); c < static_cast<size_t>(end); c += kPairLanes) {
            LanePair sum = load_pair(to + c);
            AG_EACH (k, kRuns) {
                ask(runs, k, c);
                sum = sum + load_pair(runs.g[k] + c) * load_pair(runs.y[k] + c);
            }
            store_raw(to + c, sum.low);
            store_raw(to + c + kLanes, sum.high);
        }
    }
    template <int kRuns, class U, class Permutes, class Streams>
    AG_NOINLINE void write_pairs(const Runs<kRuns, U>& of_runs, const float* sums, int begin,
                                 int end, Permutes permutes, Streams streams) const {
        Held<kRuns, U> runs = of_runs;
        for (auto c = static_cast<size_t>(begin); c < static_cast<size_t>(end); c += kPairLanes) {
            AG_EACH (k, kRuns) ask(runs, k, c);
            if constexpr (kHasPermuted<T, U>) {
                if (permutes) {
                    const LanePair of_rows = permuted_as<T>(load_pair(sums + c));
                    AG_EACH (k, kRuns) {
                        store_packed_to(runs.out[k] + c,
                                        pack_permuted<T>(load_permuted(runs.y[k] + c) *
                                                         (load_permuted(runs.g[k] + c) - of_rows)),
                                        streams);
                    }
                    continue;
                }
            }
            const LanePair of_rows = load_pair(sums + c);
            AG_EACH (k, kRuns) {
                const LanePair value =
                    load_pair(runs.y[k] + c) * (load_pair(runs.g[k] + c) - of_rows);
                store_packed_to(runs.out[k] + c, pack<U>(value), streams);
            }
        }
    }
    template <int kRuns, class U>
    AG_INLINE void ask(const Runs<kRuns, U>& runs, int k, size_t c) const {
        prefetch(runs.g[k] + c, runs.ahead[0], kPairLanes * sizeof(T), asks_into_second_);
        prefetch(runs.y[k] + c, runs.ahead[1], kPairLanes * sizeof(T), asks_into_second_);
    }

    char* const base_[3];
    const int64_t (&stride_)[3];
    const int columns_;
    const int elements_;
    const bool by_columns_;
    const bool asks_into_second_;
};

}  // namespace
}  // namespace ascend_grad
