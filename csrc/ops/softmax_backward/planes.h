// Neighbouring rows that together fill memory without a gap: n elements of all `columns` rows, the
// rows innermost. Vectors run over the whole plane, across the ends of its lines.
#pragma once

#include "isa/pair.h"
#include "isa/prefetch.h"
#include "isa/tree_sums.h"

namespace ascend_grad {
namespace {

template <class T>
AG_INLINE LanePair products_of(const T* g, const T* y, int n) {
    if (n >= kPairLanes) return load_pair(g) * load_pair(y);
    return load_first_pair(g, n) * load_first_pair(y, n);
}

// The sums of all columns of n lines, up to sixteen columns at a time: stores(column, sums) of
// products(line, column), those of the sixteen columns from `column` on. Of fewer columns the last
// lanes are no sums.
template <class Products, class Stores>
AG_INLINE void sum_columns(int columns, int n, const Products& products, const Stores& stores) {
    for (int next = 0; next < columns; next += kLanes) {
        const int column = next + kLanes <= columns || next == 0 ? next : columns - kLanes;
        const auto of_lane = [&](int k) AG_INLINE_LAMBDA_UNLESS_COMPACT {
            Lanes sum = products(k, column);
            for (k += kLanes; k < n; k += kLanes) sum = sum + products(k, column);
            return sum;
        };
        stores(column, tree_of_lines(n < kLanes ? n : kLanes, of_lane));
    }
}
// Elements of a plane that stay in the nearest cache, where its columns are summed one by one.
constexpr int kNearPlane = 4096;

// Sums over the lines of a plane, lane by lane: line i is added to lane i % 16 of each column.
// Sixteen lines are a whole number of vectors, so that each vector always adds to the same place of
// `lanes`, which has 16 * columns + 32 elements.
inline void clear_lanes(int columns, float* lanes) {
    std::memset(lanes, 0, sizeof(float) * static_cast<size_t>(kLanes * columns + kPairLanes));
}
template <class T>
inline void add_to_lanes(const T* g, const T* y, int columns, int n, float* lanes) {
    const int period = kLanes * columns;
    const int total = n * columns;
    for (int begin = 0; begin < total; begin += period) {
        const int m = total - begin < period ? total - begin : period;
        for (int i = 0; i < m; i += kPairLanes) {
            const LanePair product = products_of(g + begin + i, y + begin + i, m - i);
            store_raw(lanes + i, load(lanes + i) + product.low);
            store_raw(lanes + i + kLanes, load(lanes + i + kLanes) + product.high);
        }
    }
}
// sums[c] = the tree over the lanes of column c.
inline void add_lanes(int columns, float* lanes, float* sums) {
    for (int half = kLanes / 2; half > 0; half /= 2) {
        const int m = half * columns;
        for (int i = 0; i < m; i += kLanes) {
            const Lanes sum = load(lanes + i) + load(lanes + m + i);
            store_raw(lanes + i, sum);
        }
    }
    std::memcpy(sums, lanes, sizeof(float) * static_cast<size_t>(columns));
}

// sums[c] = sum over i of g[i * columns + c] * y[...]. `by_columns`: sixteen columns at a time in
// registers cost less than the lanes of all in memory.
template <class T>
inline void sum_plane(const T* g, const T* y, int columns, int n, bool by_columns, float* lanes,
                      float* sums) {
    if (columns >= kLanes && (by_columns || n <= kLanes || n * columns <= kNearPlane)) {
        sum_columns(
            columns, n,
            [&](int k, int c)
                AG_INLINE_LAMBDA { return load(g + k * columns + c) * load(y + k * columns + c); },
            [&](int column, Lanes x) AG_INLINE_LAMBDA { store_raw(sums + column, x); });
        return;
    }
    clear_lanes(columns, lanes);
    add_to_lanes(g, y, columns, n, lanes);
    add_lanes(columns, lanes, sums);
}

// Sums repeated so that a pair of vectors may start at each of them.
constexpr int kRepeats = kPairLanes;

inline void repeat_sums(float* sums, int columns) {
    for (int i = columns; i < columns + kRepeats; ++i) sums[i] = sums[i - columns];
}

// out = output * (grad_output - sum) of `total` elements of the plane, the first of which is one of
// column `column`; `sums` are repeated. `asks` (with_constant()): for what lies `to_next` bytes
// from the inputs, which is summed next, and for lines that ordinary stores will write.
template <class T, class U, class Flag>
AG_INLINE void write_plane(const T* g, const T* y, U* out, int total, int columns, int column,
                           const float* sums, const uintptr_t (&to_next)[2], Flag asks,
                           bool streams) {
    const int step = kPairLanes % columns;
    int i = 0;
    for (; i + kPairLanes <= total; i += kPairLanes) {
        if (asks) {
            if (!streams) prefetch_stores(out + i, kPairLanes);
            prefetch<Cache::kSecond>(g + i, to_next[0], kPairLanes * sizeof(T));
            prefetch<Cache::kSecond>(y + i, to_next[1], kPairLanes * sizeof(T));
        }
        store_pair(out + i, load_pair(y + i) * (load_pair(g + i) - load_pair(sums + column)));
        column += column + step < columns ? step : step - columns;
    }
    if (i < total) {
        const int n = total - i;
        store_first_pair(
            out + i,
            load_first_pair(y + i, n) * (load_first_pair(g + i, n) - load_pair(sums + column)), n);
    }
}

}  // namespace
}  // namespace ascend_grad
