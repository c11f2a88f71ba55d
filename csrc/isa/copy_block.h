// Copies blocks of elements from some strides to others, bits as they are.
#pragma once

#include <type_traits>
#include <utility>

#include "core/panels.h"
#include "isa/copy_box.h"
#include "isa/every_second.h"
#include "isa/transpose.h"

namespace ascend_grad {
namespace {

template <int kBytes>
AG_INLINE void move_bytes(char* to, const char* from) {
    char bytes[kBytes];
    std::memcpy(bytes, from, kBytes);
    std::memcpy(to, bytes, kBytes);
}
// Runs of kBytes to 2 * kBytes bytes, each by two moves that overlap where it is shorter.
template <int kBytes>
inline void copy_short_runs(char* to, const char* from, CopyAxis outer, CopyAxis inner,
                            int64_t bytes, CopyAhead ahead) {
    const int64_t rest = bytes - kBytes;
    for (int64_t i = 0; i < outer.count; ++i) {
        char* t = to + i * outer.to;
        const char* f = from + i * outer.from;
        for (int64_t j = 0; j < inner.count; ++j, t += inner.to, f += inner.from) {
            ask_ahead(f, ahead.from, static_cast<int>(bytes));
            ask_ahead(t, ahead.to, static_cast<int>(bytes));
            move_bytes<kBytes>(t, f);
            if (rest > 0) move_bytes<kBytes>(t + rest, f + rest);
        }
    }
}
// Never inlined: where it is, registers run out and runs of four bytes take 1.7 times as long.
AG_NOINLINE inline void copy_runs(char* to, const char* from, CopyAxis outer, CopyAxis inner,
                                  int64_t bytes, CopyAhead ahead = {}) {
    if (ahead.streams && bytes >= kCacheLine) {
        for (int64_t i = 0; i < outer.count; ++i) {
            for (int64_t j = 0; j < inner.count; ++j) {
                const char* const f = from + i * outer.from + j * inner.from;
                ask_ahead(f, ahead.from, static_cast<int>(bytes));
                stream_run(to + i * outer.to + j * inner.to, f, static_cast<size_t>(bytes));
            }
        }
        return;
    }
    if (bytes < 8) return copy_short_runs<4>(to, from, outer, inner, bytes, ahead);
    if (bytes < 16) return copy_short_runs<8>(to, from, outer, inner, bytes, ahead);
    if (bytes < 32) return copy_short_runs<16>(to, from, outer, inner, bytes, ahead);
    if (bytes <= 64) return copy_short_runs<32>(to, from, outer, inner, bytes, ahead);
    for (int64_t i = 0; i < outer.count; ++i) {
        for (int64_t j = 0; j < inner.count; ++j) {
            char* t = to + i * outer.to + j * inner.to;
            const char* f = from + i * outer.from + j * inner.from;
            ask_ahead(f, ahead.from, static_cast<int>(bytes));
            ask_ahead(t, ahead.to, static_cast<int>(bytes));
            std::memcpy(t, f, static_cast<size_t>(bytes));
        }
    }
}

// Elements one by one.
template <class T>
inline void copy_elements(char* to, const char* from, CopyAxis outer, CopyAxis middle,
                          CopyAxis inner) {
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

// Pixels of kChannels neighbours to as many rows `apart` bytes from one to the next, or back. Plain
// loops, of which compilers make vectors.
template <class T, int kChannels>
AG_NOINLINE void copy_pixels(char* to, const char* from, int64_t pixels, int64_t apart,
                             bool from_rows) {
    constexpr int64_t kSize = sizeof(T), kPixel = kChannels * kSize;
    if (from_rows) {
        for (int64_t i = 0; i < pixels; ++i)
            AG_EACH (k, kChannels)
                move_bytes<kSize>(to + i * kPixel + k * kSize, from + k * apart + i * kSize);
    } else {
        for (int64_t i = 0; i < pixels; ++i)
            AG_EACH (k, kChannels)
                move_bytes<kSize>(to + k * apart + i * kSize, from + i * kPixel + k * kSize);
    }
}
// Where neighbours along one axis, which has two to four, become those along another, or the
// reverse, all of them dense; hardware foresees them, and nothing is asked for. False, with nothing
// done, where they are not.
template <class T>
AG_INLINE bool copy_few_channels(char* to, const char* from, const CopyAxis* axes, int across,
                                 int along) {
    constexpr int64_t kSize = sizeof(T);
    const CopyAxis lines = axes[along], columns = axes[across], other = axes[3 - across - along];
    const bool from_rows = columns.to == lines.count * kSize;
    if (!from_rows && lines.from != columns.count * kSize) return false;
    const int64_t channels = from_rows ? lines.count : columns.count;
    static_assert(kFewInterleaved == 4);
    const auto copy = channels == 2   ? copy_pixels<T, 2>
                      : channels == 3 ? copy_pixels<T, 3>
                      : channels == 4 ? copy_pixels<T, 4>
                                      : nullptr;
    if (copy == nullptr) return false;
    for (int64_t i = 0; i < other.count; ++i) {
        copy(to + i * other.to, from + i * other.from, from_rows ? columns.count : lines.count,
             from_rows ? lines.from : columns.to, from_rows);
    }
    return true;
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

AG_INLINE int64_t bytes_apart(int64_t stride) {
    return stride < 0 ? -stride : stride;
}

// Joins axes that one stride walks.
inline void join(CopyAxis* axes, int n = 3) {
    for (int outer = 0; outer < n; ++outer) {
        for (int inner = 0; inner < n; ++inner) {
            CopyAxis& of = axes[outer];
            CopyAxis& to = axes[inner];
            const bool is_one = of.from == to.count * to.from && of.to == to.count * to.to;
            if (outer == inner || of.count == 1 || to.count == 1 || !is_one) continue;
            to.count *= of.count;
            of.count = 1;
        }
    }
}

// The first axis of more than one with these strides, -1 without one; 0: any stride.
AG_INLINE int find_axis(const CopyAxis* axes, int64_t from, int64_t to) {
    for (int i = 0; i < 3; ++i) {
        const bool has_from = from == 0 || axes[i].from == from;
        const bool has_to = to == 0 || axes[i].to == to;
        if (axes[i].count > 1 && has_from && has_to) return i;
    }
    return -1;
}
// The axis comes last, the longer one of the others before it.
AG_INLINE void put_last(CopyAxis* axes, int axis) {
    std::swap(axes[2], axes[axis]);
    if (axes[0].count > axes[1].count) std::swap(axes[0], axes[1]);
}

// The last axis: every second element to neighbours. False, with nothing done, where runs are short
// and do not follow each other, or there is no room to make them one.
template <class T>
AG_INLINE bool copy_every_second_runs(char* to, const char* from, CopyAxis* axes, char* spare) {
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

// Neighbours along columns to where those along lines are neighbours: transposed in registers.
template <class T>
AG_INLINE void copy_transposed(char* to, const char* from, CopyAxis lines, CopyAxis columns,
                               CopyAhead ahead) {
    constexpr int64_t kSize = sizeof(T);
    const auto copy = [&](char* t, const char* f, int64_t pitch, int64_t n, int64_t count,
                          CopyAhead asked) {
        store_columns(t, columns.to, reinterpret_cast<const T*>(f), pitch, static_cast<int>(n),
                      static_cast<int>(count), asked.streams, asked);
    };
    if (columns.count < kLanes) {
        // Whole vectors are read of lines: by way of some that are as long.
        constexpr int64_t kMost = 2 * kBlockRows<T>;
        alignas(kCacheLine) T apart[kMost * kLanes];
        for (int64_t first = 0; first < lines.count; first += kMost) {
            const CopyAxis some = {least(kMost, lines.count - first), lines.from, kLanes * kSize};
            copy_runs(reinterpret_cast<char*>(apart), from + first * lines.from, {1, 0, 0}, some,
                      columns.count * kSize, {ahead.from, 0, false});
            copy(to + first * kSize, reinterpret_cast<char*>(apart), kLanes, some.count,
                 columns.count, {0, ahead.to, ahead.streams});
        }
        return;
    }
    // The last columns together with some before them.
    const int64_t pitch = lines.from / kSize, last = columns.count - kLanes;
    const int64_t whole = columns.count / kLanes * kLanes;
    copy(to, from, pitch, lines.count, whole, ahead);
    if (whole < columns.count)
        copy(to + last * columns.to, from + last * kSize, pitch, lines.count, kLanes, ahead);
}

// The same for all along the third axis. False, with nothing done, where blocks would be too empty
// for that (measured).
template <class T>
AG_INLINE bool copy_columns(char* to, const char* from, const CopyAxis* axes, int across, int along,
                            CopyAhead ahead) {
    constexpr int64_t kSize = sizeof(T), kFewest = kSize == 2 ? 160 : 100;  // elements of a block
    const CopyAxis lines = axes[along], columns = axes[across], other = axes[3 - across - along];
    const int64_t blocks =
        (columns.count + kLanes - 1) / kLanes * ((lines.count + kBlockRows<T> - 1) / kBlockRows<T>);
    if (lines.count * columns.count < blocks * kFewest || lines.from % kSize != 0) return false;
    // Few lines, or columns, at a time where what follows them in memory is along the other axis.
    const auto is_nearer = [&](int64_t stride, int64_t than) {
        return other.count > 1 && bytes_apart(stride) < bytes_apart(than);
    };
    const bool by_lines = is_nearer(other.from, lines.from);
    const bool by_columns = is_nearer(other.to, columns.to);
    const int64_t some_lines = by_lines ? 2 * kBlockRows<T> : lines.count;
    const int64_t some_columns = by_columns ? 2 * kLanes : columns.count;
    for (int64_t first = 0, n; first < lines.count; first += n) {
        n = lines.count - first < 2 * some_lines ? lines.count - first : some_lines;
        for (int64_t c = 0, m; c < columns.count; c += m) {
            m = columns.count - c < 2 * some_columns ? columns.count - c : some_columns;
            for (int64_t i = 0; i < other.count; ++i) {
                copy_transposed<T>(to + i * other.to + c * columns.to + first * kSize,
                                   from + i * other.from + first * lines.from + c * kSize,
                                   {n, lines.from, kSize}, {m, kSize, columns.to}, ahead);
            }
        }
    }
    return true;
}

constexpr int64_t kPage = 4096;  // bytes

template <class T>
AG_NOINLINE void copy_block_of(char* to, const char* from, CopyAxis* axes, char* spare,
                               CopyAhead ahead) {
    constexpr int64_t kSize = sizeof(T);
    join(axes);
    if (const int run = find_axis(axes, kSize, kSize); run >= 0) {
        put_last(axes, run);
        copy_runs(to, from, axes[0], axes[1], axes[2].count * kSize, ahead);
        return;
    }
    if constexpr (kSize < 8) {
        if (const int run = find_axis(axes, 2 * kSize, kSize); run >= 0) {
            put_last(axes, run);
            if (copy_every_second_runs<T>(to, from, axes, spare)) return;
        }
        const int across = find_axis(axes, kSize, 0), along = find_axis(axes, 0, kSize);
        if (across >= 0 && along >= 0 &&
            (copy_few_channels<T>(to, from, axes, across, along) ||
             copy_columns<T>(to, from, axes, across, along, ahead)))
            return;
    }
    // One by one, along the longest axis that does not store to another page each time, if any.
    const auto rank = [&](int i) {
        const int64_t apart = bytes_apart(axes[i].to);
        if (axes[i].count == 1) return INT64_MIN;
        return apart < kPage ? axes[i].count : -apart;
    };
    int last = 0;
    for (int i = 1; i < 3; ++i)
        if (rank(i) > rank(last)) last = i;
    put_last(axes, last);
    copy_elements<T>(to, from, axes[0], axes[1], axes[2]);
}

// Copies elements of T's size. The three axes' order is free, and changed. `spare` has room for all
// of them; without it, or of double, short runs of every second element take longer.
template <class T>
inline void copy_block(char* to, const char* from, CopyAxis* axes, char* spare,
                       CopyAhead ahead = {}) {
    using SameSize = std::conditional_t<sizeof(T) == 2, Float16, T>;
    copy_block_of<SameSize>(to, from, axes, spare, ahead);
}

}  // namespace
}  // namespace ascend_grad
