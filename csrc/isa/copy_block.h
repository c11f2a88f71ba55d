// Copies blocks of elements from some strides to others, bits as they are.
#pragma once

#include <type_traits>
#include <utility>

#include "isa/copy_box.h"
#include "isa/shuffle.h"
#include "isa/transpose.h"

namespace ascend_grad {
namespace {

// Loops get copies of axes: compilers would load them anew after every store.

template <int kBytes>
AG_INLINE void move_bytes(char* to, const char* from) {
    char bytes[kBytes];
    std::memcpy(bytes, from, kBytes);
    std::memcpy(to, bytes, kBytes);
}
// Runs of kBytes to 2 * kBytes bytes, each by two moves that overlap where it is shorter.
template <int kBytes>
inline void copy_short_runs(char* to, const char* from, Axis outer, Axis inner, int64_t bytes) {
    const int64_t rest = bytes - kBytes;
    for (int64_t i = 0; i < outer.count; ++i) {
        char* t = to + i * outer.to;
        const char* f = from + i * outer.from;
        for (int64_t j = 0; j < inner.count; ++j, t += inner.to, f += inner.from) {
            move_bytes<kBytes>(t, f);
            if (rest > 0) move_bytes<kBytes>(t + rest, f + rest);
        }
    }
}
// Never inlined: where it is, registers run out and runs of four bytes take 1.7 times as long.
AG_NOINLINE inline void copy_runs(char* to, const char* from, Axis outer, Axis inner,
                                  int64_t bytes) {
    if (bytes < 8) return copy_short_runs<4>(to, from, outer, inner, bytes);
    if (bytes < 16) return copy_short_runs<8>(to, from, outer, inner, bytes);
    if (bytes < 32) return copy_short_runs<16>(to, from, outer, inner, bytes);
    if (bytes <= 64) return copy_short_runs<32>(to, from, outer, inner, bytes);
    for (int64_t i = 0; i < outer.count; ++i) {
        for (int64_t j = 0; j < inner.count; ++j) {
            std::memcpy(to + i * outer.to + j * inner.to, from + i * outer.from + j * inner.from,
                        static_cast<size_t>(bytes));
        }
    }
}

// Elements one by one.
template <class T>
inline void copy_elements(char* to, const char* from, Axis outer, Axis middle, Axis inner) {
    constexpr int kSize = sizeof(T);
    for (int64_t i = 0; i < outer.count; ++i) {
        for (int64_t j = 0; j < middle.count; ++j) {
            char* t = to + i * outer.to + j * middle.to;
            const char* f = from + i * outer.from + j * middle.from;
#pragma GCC unroll(4)
            for (int64_t k = 0; k < inner.count; ++k, t += inner.to, f += inner.from)
                move_bytes<kSize>(t, f);
        }
    }
}

// n elements of which `from` has every second one.
template <class T>
inline void copy_every_second(char* to, const char* from, int64_t n) {
    constexpr int64_t kSize = sizeof(T);
    int64_t i = 0;
    // The last element has no successor that surely exists.
    for (; i + kLanes < n; i += kLanes) {
        const auto bits = every_second_bits(reinterpret_cast<const T*>(from) + 2 * i);
        std::memcpy(to + i * kSize, &bits, sizeof(bits));
    }
    for (; i < n; ++i) move_bytes<kSize>(to + i * kSize, from + 2 * i * kSize);
}

// Joins axes that one stride walks.
inline void join(Axis* axes, int n = 3) {
    for (int outer = 0; outer < n; ++outer) {
        for (int inner = 0; inner < n; ++inner) {
            Axis& of = axes[outer];
            Axis& to = axes[inner];
            const bool is_one = of.from == to.count * to.from && of.to == to.count * to.to;
            if (outer == inner || of.count == 1 || to.count == 1 || !is_one) continue;
            to.count *= of.count;
            of.count = 1;
        }
    }
}

// The first axis of more than one with these strides, -1 without one; 0: any stride.
AG_INLINE int find_axis(const Axis* axes, int64_t from, int64_t to) {
    for (int i = 0; i < 3; ++i) {
        const bool has_from = from == 0 || axes[i].from == from;
        const bool has_to = to == 0 || axes[i].to == to;
        if (axes[i].count > 1 && has_from && has_to) return i;
    }
    return -1;
}
// The axis comes last, the longer one of the others before it.
AG_INLINE void put_last(Axis* axes, int axis) {
    std::swap(axes[2], axes[axis]);
    if (axes[0].count > axes[1].count) std::swap(axes[0], axes[1]);
}

// The last axis: every second element to neighbours. False, with nothing done, where runs are short
// and do not follow each other, or there is no room to make them one.
template <class T>
AG_INLINE bool copy_every_second_runs(char* to, const char* from, Axis* axes, char* spare) {
    constexpr int64_t kSize = sizeof(T);
    const int64_t run_bytes = axes[2].count * 2 * kSize;
    if (axes[2].count > kLanes) {
        for (int64_t i = 0; i < axes[0].count; ++i) {
            for (int64_t j = 0; j < axes[1].count; ++j) {
                copy_every_second<T>(to + i * axes[0].to + j * axes[1].to,
                                     from + i * axes[0].from + j * axes[1].from, axes[2].count);
            }
        }
        return true;
    }
    if (axes[0].from == run_bytes) std::swap(axes[0], axes[1]);
    if (spare == nullptr || axes[1].from != run_bytes) return false;
    const int64_t n = axes[1].count * axes[2].count;
    const bool is_one = axes[0].from == n * 2 * kSize;
    const int64_t runs = is_one ? 1 : axes[0].count, length = axes[0].count * n / runs;
    if (length <= kLanes) return false;
    for (int64_t i = 0; i < runs; ++i)
        copy_every_second<T>(spare + i * n * kSize, from + i * axes[0].from, length);
    axes[0].from = n * kSize;
    axes[1].from = axes[2].count * kSize;
    if (axes[0].count > axes[1].count) std::swap(axes[0], axes[1]);
    copy_runs(to, spare, axes[0], axes[1], axes[2].count * kSize);
    return true;
}

// Neighbours along `across` to where those along `along` are neighbours: transposed in registers.
// False, with nothing done, where blocks would be too empty for that (measured).
template <class T>
AG_INLINE bool copy_columns(char* to, const char* from, const Axis* axes, int across, int along) {
    constexpr int64_t kSize = sizeof(T);
    constexpr int64_t kFewest = kSize == 2 ? 208 : 128;  // elements of a block, in the mean
    constexpr int64_t kLinesApart = 2 * kBlockRows<T>;  // shorter than a vector: copied apart first
    const Axis lines = axes[along], columns = axes[across], other = axes[3 - across - along];
    const int64_t blocks =
        (columns.count + kLanes - 1) / kLanes * ((lines.count + kBlockRows<T> - 1) / kBlockRows<T>);
    if (lines.count * columns.count < blocks * kFewest || lines.from % kSize != 0) return false;
    const auto copy = [&](char* t, const char* f, int64_t n, int64_t count) {
        const auto columns_of = [&](char* first_to, const char* first, int64_t pitch, int64_t m,
                                    int64_t k) {
            store_columns(first_to, columns.to, reinterpret_cast<const T*>(first), pitch,
                          static_cast<int>(m), static_cast<int>(k), false);
        };
        if (count < kLanes) {
            alignas(kCacheLine) T apart[kLinesApart * kLanes];
            for (int64_t first = 0; first < n; first += kLinesApart) {
                const Axis some = {least(kLinesApart, n - first), lines.from, kLanes * kSize};
                copy_runs(reinterpret_cast<char*>(apart), f + first * lines.from, {1, 0, 0}, some,
                          count * kSize);
                columns_of(t + first * kSize, reinterpret_cast<char*>(apart), kLanes, some.count,
                           count);
            }
            return;
        }
        // The last ones together with some before them.
        const int64_t whole = count / kLanes * kLanes, last = count - kLanes;
        columns_of(t, f, lines.from / kSize, n, whole);
        if (whole < count)
            columns_of(t + last * columns.to, f + last * kSize, lines.from / kSize, n, kLanes);
    };
    // Few lines, or columns, at a time where what follows them in memory is along the other axis.
    const auto far = [](int64_t stride, int64_t of_other) {
        return (stride < 0 ? -stride : stride) > (of_other < 0 ? -of_other : of_other);
    };
    const bool by_lines = other.count > 1 && far(lines.from, other.from);
    const bool by_columns = other.count > 1 && far(columns.to, other.to);
    const int64_t some_lines = by_lines ? kLinesApart : lines.count;
    const int64_t some_columns = by_columns ? 2 * kLanes : columns.count;
    for (int64_t first = 0, n; first < lines.count; first += n) {
        n = lines.count - first < 2 * some_lines ? lines.count - first : some_lines;
        for (int64_t c = 0, count; c < columns.count; c += count) {
            count = columns.count - c < 2 * some_columns ? columns.count - c : some_columns;
            for (int64_t i = 0; i < other.count; ++i) {
                copy(to + i * other.to + c * columns.to + first * kSize,
                     from + i * other.from + first * lines.from + c * kSize, n, count);
            }
        }
    }
    return true;
}

template <class T>
AG_NOINLINE void copy_block_of(char* to, const char* from, Axis* axes, char* spare) {
    constexpr int64_t kSize = sizeof(T);
    join(axes);
    if (const int run = find_axis(axes, kSize, kSize); run >= 0) {
        put_last(axes, run);
        copy_runs(to, from, axes[0], axes[1], axes[2].count * kSize);
        return;
    }
    if constexpr (kSize < 8) {
        if (const int run = find_axis(axes, 2 * kSize, kSize); run >= 0) {
            put_last(axes, run);
            if (copy_every_second_runs<T>(to, from, axes, spare)) return;
        }
        const int across = find_axis(axes, kSize, 0), along = find_axis(axes, 0, kSize);
        if (across >= 0 && along >= 0 && copy_columns<T>(to, from, axes, across, along)) return;
    }
    int longest = 0;
    for (int i = 1; i < 3; ++i)
        if (axes[i].count > axes[longest].count) longest = i;
    put_last(axes, longest);
    copy_elements<T>(to, from, axes[0], axes[1], axes[2]);
}

// Copies elements of T's size. The three axes' order is free, and changed. `spare` has room for all
// of them; without it, or of double, short runs of every second element take longer.
template <class T>
inline void copy_block(char* to, const char* from, Axis* axes, char* spare) {
    using SameSize = std::conditional_t<sizeof(T) == 2, Float16, T>;
    copy_block_of<SameSize>(to, from, axes, spare);
}

}  // namespace
}  // namespace ascend_grad
