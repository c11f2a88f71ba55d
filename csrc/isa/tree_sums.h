// The sums over lanes of several rows at once: the tree of tree_sum(), without its shuffles.
#pragma once

#include "isa/shuffle.h"

namespace ascend_grad {
namespace {

// A row's lanes, the first steps of the tree done.
#if defined(__AVX2__)
using Folded = __m256;
constexpr int kFoldedRows = 8;

AG_INLINE Folded fold(Lanes x) {
#if defined(__AVX512F__)
    const __m512 all = (__m512)x.r[0];
    return _mm256_add_ps(_mm512_castps512_ps256(all), _mm512_extractf32x8_ps(all, 1));
#else
    return _mm256_add_ps((__m256)x.r[0], (__m256)x.r[1]);
#endif
}
// fold(keep_first(load(p), n)) of more than eight elements
AG_INLINE Folded load_folded(const float* p, int n) {
    const float* mask = reinterpret_cast<const float*>(kLaneMask + kLanes + 8 - n);
    return _mm256_add_ps(_mm256_loadu_ps(p),
                         _mm256_and_ps(_mm256_loadu_ps(p + 8), _mm256_loadu_ps(mask)));
}
// sums[r] = the sum of row r, whose lanes l, l + 4, l + 8 and l + 12 are added up: of four[i] these
// are rows i and i + 4. -0 becomes 0.
AG_INLINE void tree_sums_of_quads(const __m256* four, float* sums) {
    __m256 two[2];
    for (int i = 0; i < 2; ++i) {
        const __m256d a = (__m256d)four[2 * i], b = (__m256d)four[2 * i + 1];
        two[i] = _mm256_add_ps((__m256)_mm256_unpacklo_pd(a, b), (__m256)_mm256_unpackhi_pd(a, b));
    }
    const __m256 all = _mm256_add_ps(_mm256_shuffle_ps(two[0], two[1], 0x88),
                                     _mm256_shuffle_ps(two[0], two[1], 0xdd));
    _mm256_storeu_ps(sums, _mm256_add_ps(all, _mm256_setzero_ps()));
}
// sums[r] = the sum of row r, where -0 becomes 0.
AG_INLINE void tree_sums(const Folded* x, float* sums) {
    __m256 four[4];
    for (int i = 0; i < 4; ++i) {
        four[i] = _mm256_add_ps(_mm256_permute2f128_ps(x[i], x[i + 4], 0x20),
                                _mm256_permute2f128_ps(x[i], x[i + 4], 0x31));
    }
    tree_sums_of_quads(four, sums);
}
#else
using Folded = Quad;
constexpr int kFoldedRows = 4;

AG_INLINE Folded fold(Lanes x) {
    return (x.r[0] + x.r[2]) + (x.r[1] + x.r[3]);
}
AG_INLINE Folded load_folded(const float* p, int n) {
    return fold(keep_first(load(p), n));
}
AG_INLINE void tree_sums(const Folded* x, float* sums) {
    Quad a = x[0], b = x[1], c = x[2], d = x[3];
    transpose_4x4(a, b, c, d);
    const Quad all = (a + c) + (b + d) + Quad{};
    std::memcpy(sums, &all, sizeof(all));
}
#endif

// The tree over lanes value(k), those from `lines` on zero, of many sums at once.
template <int kStep, class Value>
AG_INLINE auto add_lines(int k, int lines, const Value& value) -> decltype(value(k)) {
    if constexpr (kStep == kLanes) {
        return value(k);
    } else {
        const auto sum = add_lines<2 * kStep>(k, lines, value);
        if (k + kStep >= lines) return sum;
        return sum + add_lines<2 * kStep>(k + kStep, lines, value);
    }
}
// sums[r] = the sum of row r, where -0 becomes 0, for `rows` rows, rounded up to kFoldedRows, of at
// most sixteen elements, one after the other. Behind them up to fifteen elements are read.
#if defined(__AVX2__)
template <int kQuads>
AG_INLINE void sum_rows_of_quads(const float* p, int rows, int length, float* sums) {
    const __m128 of_last = _mm_loadu_ps(
        reinterpret_cast<const float*>(kLaneMask + kLanes + 4 * (kQuads - 1) - length));
    const __m256 mask = _mm256_set_m128(of_last, of_last);
    for (int r = 0; r < rows; r += kFoldedRows, p += kFoldedRows * length) {
        __m256 four[4];
        AG_EACH (i, 4) {
            four[i] = add_lines<4>(0, 4 * kQuads, [&](int lane) AG_INLINE_LAMBDA {
                const float* row = p + i * length + lane;
                const __m256 both = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(row)),
                                                         _mm_loadu_ps(row + 4 * length), 1);
                return lane == 4 * (kQuads - 1) ? _mm256_and_ps(both, mask) : both;
            });
        }
        tree_sums_of_quads(four, sums + r);
    }
}
#endif
AG_INLINE void sum_short_rows(const float* p, int rows, int length, float* sums) {
#if defined(__AVX2__)
    if (length <= 4) return sum_rows_of_quads<1>(p, rows, length, sums);
    if (length <= 8) return sum_rows_of_quads<2>(p, rows, length, sums);
    if (length <= 12) return sum_rows_of_quads<3>(p, rows, length, sums);
#endif
    for (int r = 0; r < rows; r += kFoldedRows) {
        Folded folded[kFoldedRows];
        for (int i = 0; i < kFoldedRows; ++i, p += length) folded[i] = load_folded(p, length);
        tree_sums(folded, sums + r);
    }
}
// The same of Lanes; -0 becomes 0.
template <class Value>
AG_INLINE Lanes tree_of_lines(int lines, const Value& value) {
    return add_lines<1>(0, lines, value) + Lanes{};
}
// Lane i is values[index[i]] of 32 values, of which eight neighbouring lanes take theirs from one
// aligned group of eight.
AG_INLINE Lanes pick(const float* values, const int32_t* index) {
#if defined(__AVX512F__)
    return {{(Register)_mm512_permutex2var_ps(_mm512_loadu_ps(values), _mm512_loadu_si512(index),
                                              _mm512_loadu_ps(values + kLanes))}};
#elif defined(__AVX2__)
    return each_register([&](int i) {
        const int32_t* eight = index + 8 * i;
        return (Register)_mm256_permutevar8x32_ps(
            _mm256_loadu_ps(values + (eight[0] & ~7)),
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(eight)));
    });
#else
    Lanes result;
    AG_EACH (i, kRegisters) {
        const int32_t* four = index + 4 * i;
        result.r[i] = Quad{values[four[0]], values[four[1]], values[four[2]], values[four[3]]};
    }
    return result;
#endif
}

}  // namespace
}  // namespace ascend_grad
