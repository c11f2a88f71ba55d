// Square blocks of 32-bit elements transposed, and pairs of 16-bit elements made one of those.
#pragma once

#include "isa/copy_box.h"
#include "isa/prefetch.h"
#include "isa/shuffle.h"
#include "isa/stream.h"

namespace ascend_grad {
namespace {

// Element k of x[i] becomes element i of x[k].
AG_INLINE void transpose_16x16(Lanes* x) {
#if defined(__AVX512F__)
    Register r[kLanes];
    AG_EACH (i, kLanes) r[i] = x[i].r[0];
    AG_EACH (i, kLanes / 4) transpose_quads(r + 4 * i);
    // Now quad q of r[4 j + k] is quad j of line 4 q + k.
    const auto even = [](Register a, Register b) {
        return (Register)_mm512_shuffle_f32x4((__m512)a, (__m512)b, 0x88);
    };
    const auto odd = [](Register a, Register b) {
        return (Register)_mm512_shuffle_f32x4((__m512)a, (__m512)b, 0xdd);
    };
    AG_EACH (k, 4) {
        const Register left[] = {even(r[k], r[4 + k]), odd(r[k], r[4 + k])};
        const Register right[] = {even(r[8 + k], r[12 + k]), odd(r[8 + k], r[12 + k])};
        AG_EACH (i, 2) {
            x[4 * i + k].r[0] = even(left[i], right[i]);
            x[4 * i + 8 + k].r[0] = odd(left[i], right[i]);
        }
    }
#else
    alignas(64) float rows[kLanes * kLanes];
    rows_from_lines(rows, kLanes, x);
    rows_from_lines(rows + kBlockLines, kLanes, x + kBlockLines);
    AG_EACH (i, kLanes) x[i] = load(rows + kLanes * i);
#endif
}

// The 32-bit words a0 b0, a1 b1, ...
AG_INLINE Lanes interleave(HalfVector a, HalfVector b) {
#if defined(__AVX512F__)
    const __m512i low = _mm512_cvtepu16_epi32(a);
    const __m512i high = _mm512_slli_epi32(_mm512_cvtepu16_epi32(b), 16);
    return {{(Register)_mm512_or_si512(low, high)}};
#elif defined(__AVX2__)
    const __m256i low = _mm256_unpacklo_epi16(a, b);
    const __m256i high = _mm256_unpackhi_epi16(a, b);
    return {{(Register)_mm256_permute2x128_si256(low, high, 0x20),
             (Register)_mm256_permute2x128_si256(low, high, 0x31)}};
#else
    Lanes result;
    AG_EACH (i, kRegisters) result.r[i] = (Register)(widen_bits(a.w[i]) | widen_bits(b.w[i]) << 16);
    return result;
#endif
}

// Rows of sixteen elements that fill vectors of one column's elements, as T.
template <class T>
constexpr int kBlockRows = sizeof(T) == 2 ? kPairLanes : kLanes;

// x[c] = the bits of element c of row(0), row(1), ..., rounded to T.
template <class T, class Row>
AG_INLINE void transpose_rows(const Row& row, Lanes* x) {
    AG_EACH (k, kLanes) {
        if constexpr (sizeof(T) == 2) {
            x[k] = interleave(narrow(row(2 * k), T{}), narrow(row(2 * k + 1), T{}));
        } else {
            x[k] = canonical(row(k));
        }
    }
    transpose_16x16(x);
}

// The first `bytes` of each vector, kBytes or more, to `stride` bytes after those of the one
// before: by two moves that overlap, which is faster than under a mask (measured on Zen 4).
template <int kBytes>
AG_INLINE void store_parts_of(char* to, int64_t stride, const Lanes* x, int count, int64_t bytes) {
    for (int i = 0; i < count; ++i, to += stride) {
        const char* const from = reinterpret_cast<const char*>(x + i);
        char first[kBytes], last[kBytes];
        std::memcpy(first, from, kBytes);
        std::memcpy(last, from + bytes - kBytes, kBytes);
        std::memcpy(to, first, kBytes);
        std::memcpy(to + bytes - kBytes, last, kBytes);
    }
}
AG_INLINE void store_parts(char* to, int64_t stride, const Lanes* x, int count, int64_t bytes) {
    if (bytes >= 32) return store_parts_of<32>(to, stride, x, count, bytes);
    if (bytes >= 16) return store_parts_of<16>(to, stride, x, count, bytes);
    if (bytes >= 8) return store_parts_of<8>(to, stride, x, count, bytes);
    if (bytes >= 4) return store_parts_of<4>(to, stride, x, count, bytes);
    store_parts_of<2>(to, stride, x, count, bytes);
}

// x[i] = the bits of element i of up to kBlockRows<T> lines, `pitch` elements apart.
template <class T>
AG_INLINE void load_columns(const T* from, int64_t pitch, int lines, Lanes* x) {
    const auto line = [&](int k) AG_INLINE_LAMBDA { return from + (k < lines ? k : 0) * pitch; };
    AG_EACH (k, kLanes) {
        if constexpr (sizeof(T) == 2) {
            HalfVector even, odd;
            std::memcpy(&even, line(2 * k), sizeof(even));
            std::memcpy(&odd, line(2 * k + 1), sizeof(odd));
            x[k] = interleave(even, odd);
        } else {
            x[k] = load(line(k));
        }
    }
    transpose_16x16(x);
}

// Element i of line k of `from`, `pitch` elements from line to line, goes to
// to + i * stride + k * sizeof(T). Whole vectors of a line's last elements are read.
// Whole cache lines past the caches where the destination allows it and `streams`.
template <class T>
AG_NOINLINE void store_columns(char* to, int64_t stride, const T* from, int64_t pitch, int lines,
                               int columns, bool streams, CopyAhead ahead = {}) {
    constexpr auto kSize = static_cast<int64_t>(sizeof(T));
    streams = streams && is_whole_lines(to, stride);
    // Parts of a vector may be stored whole: over lines stored before, or over what the columns
    // behind are to fill.
    const bool again = lines >= kBlockRows<T> && !streams;
    const bool beyond = lines < kBlockRows<T> && stride == lines * kSize;
    for (int c = 0; c < columns; c += kLanes) {
        const int count = columns - c < kLanes ? columns - c : kLanes;
        for (int next = 0; next < lines; next += kBlockRows<T>) {
            const int first = again && lines - next < kBlockRows<T> ? lines - kBlockRows<T> : next;
            const int rest = lines - first;
            Lanes x[kLanes];
            const T* const block = from + first * pitch + c;
            const auto lines_of_block = ahead.from != 0 ? least(rest, kBlockRows<T>) : 0;
            for (int k = 0; k < lines_of_block; ++k)
                ask_ahead(block + k * pitch, ahead.from, kLanes * static_cast<int>(kSize));
            load_columns(block, pitch, rest, x);
            char* p = to + c * stride + first * kSize;
            int whole = rest < kBlockRows<T> ? 0 : count;
            if (beyond) {
                const int64_t room = static_cast<int64_t>(sizeof(Lanes)) / stride + 1;
                whole = static_cast<int>(least(count, greatest(0, columns - c - room)));
            }
            for (int i = 0; i < whole; ++i, p += stride) {
                if (streams) {
                    stream_lines(p, reinterpret_cast<const char*>(&x[i]), sizeof(Lanes));
                } else {
                    // Where the next lines of `from` will go, measured.
                    prefetch<Cache::kFirst>(p, static_cast<uintptr_t>(lines) * sizeof(T),
                                            sizeof(Lanes));
                    ask_ahead(p, ahead.to, sizeof(Lanes));
                    std::memcpy(p, &x[i], sizeof(Lanes));
                }
            }
            if (whole < count) store_parts(p, stride, x + whole, count - whole, rest * kSize);
        }
    }
}

}  // namespace
}  // namespace ascend_grad
