// Rows, or chunks of a row, whose elements follow each other in memory; of the inputs, every
// element or every second one.
#pragma once

#include <algorithm>
#include <type_traits>

#include "isa/every_second.h"
#include "isa/prefetch.h"
#include "isa/shuffle.h"
#include "isa/stream.h"

namespace ascend_grad {
namespace {

// Two contiguous inputs.
template <class T>
struct Inputs {
    const T* g;
    const T* y;
};

template <int kStep, class T>
AG_INLINE LanePair pair_products(const Inputs<T>& in, int i) {
    return load_pair_of<kStep>(in.g, i) * load_pair_of<kStep>(in.y, i);
}
template <int kStep, class T>
AG_INLINE Lanes products(const Inputs<T>& in, int i) {
    return load_of<kStep>(in.g, i) * load_of<kStep>(in.y, i);
}
template <int kStep, class T>
AG_INLINE Lanes first_products(const Inputs<T>& in, int i, int n) {
    return load_first_of<kStep>(in.g, i, n) * load_first_of<kStep>(in.y, i, n);
}

// Adds the products of the first `head` elements; then lane 0 is the next element's.
template <int kStep, class T>
AG_INLINE Lanes add_head(const Inputs<T>& in, int head, Lanes sum) {
    for (int i = 0; i < head; i += kLanes)
        sum = sum + first_products<kStep>(in, i, head - i < kLanes ? head - i : kLanes);
    return rotate(sum, head);
}

// sums[k] = the sum of grad_output * output over n elements from in[k] on; all begin alike in
// their cache lines, for speed. `asks` (with_constant()): for what is loaded later.
template <int kStep, int kCount, class T, class Flag>
AG_INLINE void sum_products(const Inputs<T>* in, int n, Flag asks, float* sums) {
    constexpr int kBeyond = kStep - 1;  // elements that must exist after a whole load's last one
    const int head = long_head<kStep>(in[0].g, n);
    Lanes sum[kCount];
    AG_EACH (k, kCount) sum[k] = add_head<kStep>(in[k], head, Lanes{});
    int i = head;
    for (; i + kPairLanes + kBeyond <= n; i += kPairLanes) {
        AG_EACH (k, kCount) {
            if (asks) prefetch_loads(in[k].g + kStep * i, in[k].y + kStep * i, kStep * kPairLanes);
            const LanePair product = pair_products<kStep>(in[k], i);
            sum[k] = (sum[k] + product.low) + product.high;
        }
    }
    for (; i + kLanes + kBeyond <= n; i += kLanes)
        AG_EACH (k, kCount) sum[k] = sum[k] + products<kStep>(in[k], i);
    AG_EACH (k, kCount) {
        if (i < n) sum[k] = sum[k] + first_products<kStep>(in[k], i, n - i);
        sums[k] = tree_sum(rotate(sum[k], -head));
    }
}
template <int kStep, class T, class Flag>
AG_INLINE float sum_products(const Inputs<T>& in, int n, Flag asks) {
    float sum;
    sum_products<kStep, 1>(&in, n, asks, &sum);
    return sum;
}

// out = output * (grad_output - s) of up to sixteen elements from `at` on.
template <int kStep, class T, class U>
AG_INLINE void write_first(const Inputs<T>& in, int at, int n, Lanes s, U* out) {
    store_first(out + at,
                load_first_of<kStep>(in.y, at, n) * (load_first_of<kStep>(in.g, at, n) - s), n);
}
template <int kStep, class T, class U>
AG_INLINE void write_head(const Inputs<T>& in, int head, Lanes s, U* out) {
    for (int i = 0; i < head; i += kLanes)
        write_first<kStep>(in, i, head - i < kLanes ? head - i : kLanes, s, out);
}

// Whether output * (grad_output - sum) is never a NaN for the elements summed: a sum of products
// that is finite had finite factors, and one below 2^103 cannot make their difference overflow. By
// differences of integers, whose signs compilers combine in whole vectors.
inline bool make_no_nan(const float* sums, int n) {
    constexpr uint32_t kMagnitude = 0x7fffffff, kBound = 0x73000000;  // of 2^103
    uint32_t all_below = ~0u;                                         // its sign bit
    for (int i = 0; i < n; ++i) {
        uint32_t bits;
        std::memcpy(&bits, sums + i, sizeof(bits));
        all_below &= (bits & kMagnitude) - kBound;
    }
    return all_below >> 31 != 0;
}
// Whether elements without a NaN have a form of their own (load_permuted()).
template <class T, class U>
constexpr bool kHasPermuted = std::is_same_v<T, U> && !kIsCompact;
// out = output * (grad_output - sum) of thirty-two elements.
template <int kStep, class T, class U>
AG_INLINE void write_pair(const T* g, const T* y, LanePair sum, bool no_nan, U* out, bool streams) {
    if constexpr (kStep == 1 && kHasPermuted<T, U>) {
        if (no_nan) {
            const LanePair value = load_permuted(y) * (load_permuted(g) - sum);
            store_packed_to(out, pack_permuted<T>(value), streams);
            return;
        }
    }
    const LanePair value = load_pair_of<kStep>(y, 0) * (load_pair_of<kStep>(g, 0) - sum);
    store_packed_to(out, pack<U>(value), streams);
}

// out = output * (grad_output - sum) of n elements.
template <class T, class U>
AG_INLINE void write_row(const Inputs<T>& in, float sum, U* out, int n, bool asks_for_stores) {
    const Lanes s = splat(sum);
    const LanePair both = {s, s};
    // Of 16 bit it gains nothing here (Zen 4).
    const bool no_nan = sizeof(T) == 4 && kHasPermuted<T, U> && make_no_nan(&sum, 1);
    int i = long_head<1>(out, n);
    write_head<1>(in, i, s, out);
    for (; i + kPairLanes <= n; i += kPairLanes) {
        if (asks_for_stores) prefetch_stores(out + i, kPairLanes);
        write_pair<1>(in.g + i, in.y + i, both, no_nan, out + i, false);
    }
    for (; i + kLanes <= n; i += kLanes) store(out + i, load(in.y + i) * (load(in.g + i) - s));
    if (i < n) write_first<1>(in, i, n - i, s, out);
}

// Rows of equal length, `stride` bytes from one to the next in g, y and out.
struct RowSet {
    const char* g;
    const char* y;
    char* out;
    const int64_t* stride;
    int count;
    bool asks_for_stores;
};

// Rows that stay in registers, of more than kVectors - 1 vectors, at most kVectors.
template <int kVectors, class T, class Flag>
inline void write_rows_of(const RowSet& rows, int n, Flag asks) {
    constexpr int kLast = kVectors - 1;
    const int rest = n - kLast * kLanes;
    for (int row = 0; row < rows.count; ++row) {
        const T* in_g = reinterpret_cast<const T*>(rows.g + row * rows.stride[0]);
        const T* in_y = reinterpret_cast<const T*>(rows.y + row * rows.stride[1]);
        T* out = reinterpret_cast<T*>(rows.out + row * rows.stride[2]);
        Lanes g[kVectors], y[kVectors];
        if (asks) prefetch_loads(in_g, in_y, kVectors * kLanes);
        Lanes sum{};
        AG_EACH (k, kLast) {
            g[k] = load(in_g + k * kLanes);
            y[k] = load(in_y + k * kLanes);
            sum = sum + g[k] * y[k];
        }
        g[kLast] = load_first(in_g + kLast * kLanes, rest);
        y[kLast] = load_first(in_y + kLast * kLanes, rest);
        const float row_sum = tree_sum(sum + g[kLast] * y[kLast]);
        const Lanes s = splat(row_sum);
        // Of float, and of up to three vectors, it gains nothing (Zen 4).
        const bool no_nan = !kIsCompact && sizeof(T) == 2 && kLast > 2 && make_no_nan(&row_sum, 1);
        AG_EACH (k, kLast / 2) {
            const int a = 2 * k, b = a + 1;
            LanePair value = {y[a] * (g[a] - s), y[b] * (g[b] - s)};
            if (!no_nan) value = canonical(value);
            store_packed(out + k * kPairLanes, pack_canonical<T>(value));
        }
        if constexpr (kLast % 2 == 1) {
            store(out + (kLast - 1) * kLanes, y[kLast - 1] * (g[kLast - 1] - s));
        }
        store_first(out + kLast * kLanes, y[kLast] * (g[kLast] - s), rest);
    }
}
template <int kVectors, class T, class U, class Flag>
inline void write_rows(const RowSet& rows, int n, Flag asks) {
    // Of each input, in registers; where out has another dtype this is not worth its code.
    constexpr int kMaxVectors = std::is_same_v<T, U> ? (kRegisters == 1 ? 8 : 4) : 0;
    if constexpr (kVectors > kMaxVectors) {
        for (int row = 0; row < rows.count; ++row) {
            const Inputs<T> in = {reinterpret_cast<const T*>(rows.g + row * rows.stride[0]),
                                  reinterpret_cast<const T*>(rows.y + row * rows.stride[1])};
            write_row(in, sum_products<1>(in, n, asks),
                      reinterpret_cast<U*>(rows.out + row * rows.stride[2]), n,
                      rows.asks_for_stores);
        }
    } else if (n <= kVectors * kLanes) {
        write_rows_of<kVectors, T>(rows, n, asks);
    } else {
        write_rows<kVectors + 1, T, U>(rows, n, asks);
    }
}

// out = output * (grad_output - of_these) of n elements. Returns `sum` and, if kSums, the products
// of as many others, whose loads overlap these stores, added to its lanes as sum_products() does.
// Of out, whole cache lines are streamed; then it begins a number of elements before a line.
// `asks`: for what lies `ahead` bytes behind the others or, where there are none, behind these.
template <int kStep, bool kSums, class T, class U, class Flag>
AG_INLINE Lanes write_and_sum(const Inputs<T>& in, float of_these, U* out, bool streams,
                              const Inputs<T>& next, int n, Flag asks, Lanes sum,
                              uintptr_t ahead = kAhead) {
    constexpr int kBeyond = kStep - 1;
    const Lanes s = splat(of_these);
    const LanePair both = {s, s};
    const bool no_nan = kHasPermuted<T, U> && make_no_nan(&of_these, 1);
    const int head = streams ? elements_to_line(out, n) : long_head<kStep>(out, n);
    // Ordinary stores write it in part, and stores past the caches wait for that.
    if (streams && bytes_to_line(out + n) > 0) prefetch<Cache::kFirst>(out + n, 0, 1);
    write_head<kStep>(in, head, s, out);
    const Inputs<T> rest = {in.g + kStep * head, in.y + kStep * head};
    U* const to = out + head;
    const int m = n - head;
    const int next_head = kSums ? long_head<kStep>(next.g, n) : 0;
    const Inputs<T> next_rest = {next.g + next_head, next.y + next_head};
    const int next_m = n - next_head;
    if (kSums) sum = add_head<kStep>(next, next_head, sum);
    const int both_m = kSums && next_m < m ? next_m : m;
    int i = 0;
    for (; i + kPairLanes + kBeyond <= both_m; i += kPairLanes) {
        if (!streams) prefetch_stores(to + i, kPairLanes);
        write_pair<kStep>(rest.g + kStep * i, rest.y + kStep * i, both, no_nan, to + i, streams);
        const Inputs<T>& later = kSums ? next_rest : rest;
        if (asks)
            prefetch_loads(later.g + kStep * i, later.y + kStep * i, kStep * kPairLanes, ahead);
        if (!kSums) continue;
        const LanePair product = pair_products<kStep>(next_rest, i);
        sum = (sum + product.low) + product.high;
    }
    int at = i;
    for (; at + kLanes + kBeyond <= m; at += kLanes)
        store(to + at, load_of<kStep>(rest.y, at) * (load_of<kStep>(rest.g, at) - s));
    if (at < m) write_first<kStep>(rest, at, m - at, s, to);
    if (!kSums) return sum;
    for (; i + kLanes + kBeyond <= next_m; i += kLanes) sum = sum + products<kStep>(next_rest, i);
    if (i < next_m) sum = sum + first_products<kStep>(next_rest, i, next_m - i);
    return rotate(sum, -next_head);
}

// Rows past the caches, each summed and then written. Those that lie this far behind one, or the
// next one, are asked for while it is written: then sums come from the nearest cache, and memory
// reads and writes all the time.
template <class T>
AG_NOINLINE void stream_rows(const RowSet& rows, int n) {
    constexpr uintptr_t kRowsAhead = 2 * kAhead;  // bytes; half of it takes up to 1.5 times as long
    const uintptr_t ahead = std::max(kRowsAhead, static_cast<uintptr_t>(n) * sizeof(T));
    for (int row = 0; row < rows.count; ++row) {
        const Inputs<T> in = {reinterpret_cast<const T*>(rows.g + row * rows.stride[0]),
                              reinterpret_cast<const T*>(rows.y + row * rows.stride[1])};
        const float sum = sum_products<1>(in, n, std::false_type{});
        write_and_sum<1, false>(in, sum, reinterpret_cast<T*>(rows.out + row * rows.stride[2]),
                                true, in, n, std::true_type{}, Lanes{}, ahead);
    }
}

}  // namespace
}  // namespace ascend_grad
