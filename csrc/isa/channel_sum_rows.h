// One channel's run of positions, contiguous or every second element of memory.
//
// `Element` is an operator's element function. It has: the type T of all tensors; constants kSums
// (sums per channel), kWrites (the last operand is an output) and kZeroPads (whether lanes padded
// with zeros contribute 0 to every sum);
//   Lanes operator()(Lanes a, Lanes b, Lanes parameter, Lanes* terms) const
// which returns the output of 16 elements and their terms of the sums; `parameter` is that of their
// channels.
#pragma once

#include "isa/every_second.h"
#include "isa/prefetch.h"
#include "isa/shuffle.h"
#include "isa/stream.h"

namespace ascend_grad {
namespace {

// Where rows of equal length start in the operands and how many bytes it is to the next row.
struct Rows {
    char* at[3];
    int64_t step[3];
    int to_sums = 1;  // from a row's sums and parameter to those of the next; 0: all have the same
    // Of add_joined_rows(): so many rows share a parameter; if several, the last of them has
    // another number of elements.
    int parts = 1, last_part = 0;
    int lane = 0;              // of the first row's first element, modulo 16
    int lanes_to_next = 0;     // from there to that of the next row's first element
    uintptr_t ahead = kAhead;  // bytes, at which rows of more than four vectors ask for loads
    int64_t aligned_bytes = kLongRun;  // rows of so many are walked from a cache line on

    // Whether some row begins with another lane than the first one.
    bool turns() const { return (lane | lanes_to_next) % kLanes != 0; }
};

// Bytes, at which short rows ask for loads: less far than elsewhere, or those from a cache would
// lose more than 3 % (measured).
constexpr uintptr_t kShortAhead = 2048;

// add_rows() of rows of more than kVectors - 1 vectors, at most kVectors, without loops.
template <int kVectors, bool kStreams, class Element>
inline void add_rows_of(const Element& element, const Rows& rows, int count, int n,
                        const float* parameters, bool asks, Lanes (*sums)[Element::kSums]) {
    using T = typename Element::T;
    constexpr int kSums = Element::kSums;
    constexpr int kLast = kVectors - 1;
    const int rest = n - kLast * kLanes;
    const int to_sums = rows.to_sums;
    for (int row = 0; row < count; ++row) {
        const T* a = reinterpret_cast<const T*>(rows.at[0] + row * rows.step[0]);
        const T* b = reinterpret_cast<const T*>(rows.at[1] + row * rows.step[1]);
        const Lanes p = splat(parameters[row * to_sums]);
        Lanes value[kVectors], terms[kVectors][kSums];
        if (asks) prefetch_loads(a, b, kVectors * kLanes, kShortAhead);
        AG_EACH (k, kLast)
            value[k] = element(load(a + k * kLanes), load(b + k * kLanes), p, terms[k]);
        value[kLast] = element(load_first(a + kLast * kLanes, rest),
                               load_first(b + kLast * kLanes, rest), p, terms[kLast]);
        AG_EACH (i, kSums) {
            Lanes s = sums[row * to_sums][i];
            AG_EACH (k, kLast) s = s + terms[k][i];
            const Lanes last = terms[kLast][i];
            sums[row * to_sums][i] = s + (Element::kZeroPads ? last : keep_first(last, rest));
        }
        if constexpr (Element::kWrites) {
            T* out = reinterpret_cast<T*>(rows.at[2] + row * rows.step[2]);
            AG_EACH (k, kLast / 2)
                store_pair_to<kStreams>(out + k * kPairLanes, {value[2 * k], value[2 * k + 1]});
            if constexpr (kLast % 2 == 1)
                store_to<kStreams>(out + (kLast - 1) * kLanes, value[kLast - 1]);
            if (kStreams && rest == kLanes) {
                stream_store(out + kLast * kLanes, value[kLast]);
            } else {
                store_first(out + kLast * kLanes, value[kLast], rest);
            }
        }
    }
}

// add_rows() of contiguous rows of at most kUnrolledRow elements.
constexpr int kUnrolledRow = 4 * kLanes;
template <bool kStreams, class Element>
AG_NOINLINE void add_short_rows(const Element& element, const Rows& rows, int count, int n,
                                const float* parameters, bool asks, Lanes (*sums)[Element::kSums]) {
    switch ((n + kLanes - 1) / kLanes) {
        case 1:
            return add_rows_of<1, kStreams>(element, rows, count, n, parameters, asks, sums);
        case 2:
            return add_rows_of<2, kStreams>(element, rows, count, n, parameters, asks, sums);
        case 3:
            return add_rows_of<3, kStreams>(element, rows, count, n, parameters, asks, sums);
        case 4:
            return add_rows_of<4, kStreams>(element, rows, count, n, parameters, asks, sums);
        default:
            return;  // no elements
    }
}

// add_rows() of contiguous rows of at most a vector, which begin with other lanes than the first.
template <class Element>
AG_NOINLINE void add_turned_rows(const Element& element, const Rows& of, int count, int n,
                                 const float* parameters, bool asks,
                                 Lanes (*sums)[Element::kSums]) {
    using T = typename Element::T;
    const Rows rows = of;  // which no store changes
    const auto add = [&](int row, auto load_row, Lanes* to) AG_INLINE_LAMBDA {
        const T* a = reinterpret_cast<const T*>(rows.at[0] + row * rows.step[0]);
        const T* b = reinterpret_cast<const T*>(rows.at[1] + row * rows.step[1]);
        if (asks) prefetch_loads(a, b, kLanes, kShortAhead);
        Lanes terms[Element::kSums];
        const Lanes value =
            element(load_row(a), load_row(b), splat(parameters[row * rows.to_sums]), terms);
        const int lane = rows.lane + row * rows.lanes_to_next;
        AG_EACH (i, Element::kSums) to[i] = to[i] + rotate(keep_first(terms[i], n), -lane);
        if constexpr (Element::kWrites)
            store_row(reinterpret_cast<T*>(rows.at[2] + row * rows.step[2]), value, n);
    };
    const auto load_part = [n](const T* p) AG_INLINE_LAMBDA { return load_first(p, n); };
    if (rows.to_sums == 0) {
        Lanes s[Element::kSums];
        AG_EACH (i, Element::kSums) s[i] = sums[0][i];
        for (int row = 0; row < count; ++row) add(row, load_part, s);
        AG_EACH (i, Element::kSums) sums[0][i] = s[i];
        return;
    }
    // Whole vectors are faster where others follow these rows, but for those with masks of loads.
    const int64_t bytes = n * static_cast<int64_t>(sizeof(T));
    const bool follow = rows.step[0] == bytes && rows.step[1] == bytes;
    const int whole = follow && kRegisters > 1 ? count - (kLanes - 1) / n : 0;
    const auto load_whole = [](const T* p) AG_INLINE_LAMBDA { return load(p); };
    int row = 0;
    for (; row < whole; ++row) add(row, load_whole, sums[row * rows.to_sums]);
    for (; row < count; ++row) add(row, load_part, sums[row * rows.to_sums]);
}

// add_rows() of an element that writes, of rows of at least a vector, each with sums of its own,
// that lie one behind the other in all operands: as one run of cache lines. The vector in which a
// row ends holds the next one's first elements. Outputs begin whole elements from a line.
template <bool kStreams, class Element>
AG_NOINLINE void add_joined_rows(const Element& element, const Rows& rows, int count, int n,
                                 const float* parameters, bool asks,
                                 Lanes (*sums)[Element::kSums]) {
    using T = typename Element::T;
    constexpr int kSums = Element::kSums;
    const T* a = reinterpret_cast<const T*>(rows.at[0]);
    const T* b = reinterpret_cast<const T*>(rows.at[1]);
    T* out = reinterpret_cast<T*>(rows.at[2]);
    // To a line, or of 16 bit its middle: less than a row.
    const int head = elements_to_line(out, kPairLanes) % kLanes;
    Lanes s[kSums], terms[kSums], later_terms[kSums];
    Lanes p = splat(parameters[0]);
    AG_EACH (k, kSums) s[k] = sums[0][k];
    const auto add_first = [&](int m) AG_INLINE_LAMBDA {
        const Lanes value = element(load_first(a, m), load_first(b, m), p, terms);
        store_first(out, value, m);
        AG_EACH (k, kSums) s[k] = s[k] + keep_first(terms[k], m);
    };
    const auto move_on = [&](int m) AG_INLINE_LAMBDA {
        a += m;
        b += m;
        out += m;
    };
    const auto vector = [&](Lanes parameter) AG_INLINE_LAMBDA {
        if (asks) prefetch_loads(a, b, kLanes, kShortAhead);
        const Lanes value = element(load(a), load(b), parameter, terms);
        store_to<kStreams>(out, value);
        move_on(kLanes);
    };
    const auto add_vector = [&]() AG_INLINE_LAMBDA {
        vector(p);
        AG_EACH (k, kSums) s[k] = s[k] + terms[k];
    };
    if (head > 0) add_first(head);
    move_on(head);
    AG_EACH (k, kSums) s[k] = rotate(s[k], head);
    int turned = head;  // lane 0 has the sum of the row's elements from this one on, modulo 16
    const int parts = rows.parts, last_part = parts > 1 ? rows.last_part : n;
    for (int row = 0, part = 1, left = n - head;;) {
        // Two vectors of 16 bit are a line.
        if (left >= kLanes && kStreams && sizeof(T) == 2 && bytes_to_line(out) != 0) {
            add_vector();
            left -= kLanes;
        }
        for (; left >= kPairLanes; left -= kPairLanes) {
            if (asks) prefetch_loads(a, b, kPairLanes, kShortAhead);
            const LanePair x = load_pair(a), y = load_pair(b);
            const LanePair value = {element(x.low, y.low, p, terms),
                                    element(x.high, y.high, p, later_terms)};
            store_pair_to<kStreams>(out, value);
            AG_EACH (k, kSums) s[k] = (s[k] + terms[k]) + later_terms[k];
            move_on(kPairLanes);
        }
        if (left >= kLanes) {
            add_vector();
            left -= kLanes;
        }
        if (row + 1 == count) {
            if (left > 0) add_first(left);
            AG_EACH (k, kSums) sums[row][k] = rotate(s[k], -turned);
            return;
        }
        const bool is_last = part == parts;
        if (is_last) ++parameters;
        part = is_last ? 1 : part + 1;
        const Lanes next = splat(*parameters);
        if (left > 0) {
            vector(join_lanes(p, next, left));
            AG_EACH (k, kSums) s[k] = s[k] + keep_first(terms[k], left);
        }
        AG_EACH (k, kSums) sums[row][k] = rotate(s[k], -turned);
        ++row;
        p = next;
        turned = left > 0 ? kLanes - left : 0;
        AG_EACH (k, kSums) {
            s[k] = rotate(sums[row][k], turned);
            if (left > 0) s[k] = s[k] + join_lanes(splat(0.0f), terms[k], left);
        }
        left = (part == parts ? last_part : n) - turned;
    }
}

// Adds the terms of n elements of each of `count` rows to the lane sums of that row and stores
// their outputs. kStep: elements of memory from one of a row's inputs to the next. kStreams:
// outputs, which are whole cache lines or streams_long(), go past the caches. `asks`
// (with_constant()): for loads to come. Never inlined: hardware foresees loads by where the
// instruction stands, and a run of memory that two copies of the loop take in turns costs up to a
// fifth more.
template <int kStep, bool kStreams, class Element, class Flag>
AG_NOINLINE void add_rows(const Element& element, const Rows& rows, int count, int n,
                          const float* parameters, Flag asks, Lanes (*sums)[Element::kSums]) {
    using T = typename Element::T;
    constexpr int kSums = Element::kSums;
    constexpr int kBeyond = kStep - 1;  // elements that must exist after a whole load's last one
    const int to_sums = rows.to_sums;
    for (int row = 0; row < count; ++row) {
        const T* a = reinterpret_cast<const T*>(rows.at[0] + row * rows.step[0]);
        const T* b = reinterpret_cast<const T*>(rows.at[1] + row * rows.step[1]);
        T* out = Element::kWrites ? reinterpret_cast<T*>(rows.at[2] + row * rows.step[2]) : nullptr;
        const Lanes p = splat(parameters[row * to_sums]);
        Lanes s[kSums], terms[kSums], later_terms[kSums];
        const int lane = rows.lane + row * rows.lanes_to_next;
        AG_EACH (k, kSums) s[k] = rotate(sums[row * to_sums][k], lane);
        int i = 0;
        const auto add_first = [&](int m) AG_INLINE_LAMBDA {
            const Lanes value =
                element(load_first_of<kStep>(a, i, m), load_first_of<kStep>(b, i, m), p, terms);
            if (Element::kWrites) store_first(out + i, value, m);
            AG_EACH (k, kSums)
                s[k] = s[k] + (Element::kZeroPads ? terms[k] : keep_first(terms[k], m));
        };
        // From a line on, where vectors do not cross its end; then lanes begin with another one.
        const int head = Element::kWrites ? long_head<kStep>(out, n, rows.aligned_bytes)
                                          : long_head<kStep>(a, n, rows.aligned_bytes);
        for (; i < head; i += kLanes) add_first(head - i < kLanes ? head - i : kLanes);
        i = head;
        AG_EACH (k, kSums) s[k] = rotate(s[k], head);
        for (; i + kPairLanes + kBeyond <= n; i += kPairLanes) {
            if (asks) prefetch_loads(a + kStep * i, b + kStep * i, kStep * kPairLanes, rows.ahead);
            const LanePair x = load_pair_of<kStep>(a, i);
            const LanePair y = load_pair_of<kStep>(b, i);
            const LanePair value = {element(x.low, y.low, p, terms),
                                    element(x.high, y.high, p, later_terms)};
            if (Element::kWrites) store_pair_to<kStreams>(out + i, value);
            AG_EACH (k, kSums) s[k] = (s[k] + terms[k]) + later_terms[k];
        }
        for (; i + kLanes + kBeyond <= n; i += kLanes) {
            const Lanes value = element(load_of<kStep>(a, i), load_of<kStep>(b, i), p, terms);
            // Of 16 bit it is no whole line.
            if (Element::kWrites) store_to<kStreams && sizeof(T) == 4>(out + i, value);
            AG_EACH (k, kSums) s[k] = s[k] + terms[k];
        }
        if (i < n) add_first(n - i);
        AG_EACH (k, kSums) sums[row * to_sums][k] = rotate(s[k], -head - lane);
    }
}

}  // namespace
}  // namespace ascend_grad
