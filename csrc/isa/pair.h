// Thirty-two elements at once: two registers of AVX-512 are rounded to 16 bit together, at half the
// price, and a NaN is looked for once.
#pragma once

#include "isa/partial.h"

namespace ascend_grad {
namespace {

constexpr int kPairLanes = 2 * kLanes;

// Elements 0 to 15 and 16 to 31, if nothing else is said.
struct LanePair {
    Lanes low;
    Lanes high;
};

AG_INLINE LanePair operator+(LanePair a, LanePair b) {
    return {a.low + b.low, a.high + b.high};
}
AG_INLINE LanePair operator-(LanePair a, LanePair b) {
    return {a.low - b.low, a.high - b.high};
}
AG_INLINE LanePair operator*(LanePair a, LanePair b) {
    return {a.low * b.low, a.high * b.high};
}
AG_INLINE LanePair canonical(LanePair x) {
    if (__builtin_expect(has_nan(x.low, x.high), 0)) {
        x = {replace_nan(x.low), replace_nan(x.high)};
    }
    return x;
}

#if defined(__AVX512F__)

using PairVector = __m512i;

// The words of sixteen elements and of the next sixteen, high or low.
alignas(64) constexpr uint16_t kGatherHigh[32] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21,
                                                  23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43,
                                                  45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
alignas(64) constexpr uint16_t kGatherLow[32] = {0,  2,  4,  6,  8,  10, 12, 14, 16, 18, 20,
                                                 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42,
                                                 44, 46, 48, 50, 52, 54, 56, 58, 60, 62};

AG_INLINE __mmask32 first_pair_lanes(int n) {
    return static_cast<__mmask32>((uint64_t{1} << n) - 1);
}
AG_INLINE __m512i narrow_canonical(LanePair x, Float16) {
    const __m256i low = narrow_canonical(x.low, Float16{});
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), narrow_canonical(x.high, Float16{}), 1);
}
alignas(64) constexpr uint16_t kTwos[32] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
                                            2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
// Rounds the high words of elements by the low ones: up if low + (high & 1) > 0x8000, which is bit
// 15 of (low + (0x7ffe | high & 1) + 1) >> 1, an average.
AG_INLINE __m512i round_words(__m512i high, __m512i low) {
    constexpr int kAndOr = 0xea;
    const __m512i half =
        _mm512_ternarylogic_epi32(high, _mm512_set1_epi16(1), _mm512_set1_epi16(0x7ffe), kAndOr);
    const __m512i sum = _mm512_avg_epu16(low, half);
    // A product instead of a shift, which the shuffles' pipes would have to do. GCC 12 makes a
    // factor that it knows anew for every vector: a shuffle each.
    const uint16_t* twos = kTwos;
    asm("" : "+r"(twos));
    return _mm512_add_epi16(high, _mm512_mulhi_epu16(sum, _mm512_load_si512(twos)));
}
AG_INLINE __m512i narrow_canonical(LanePair x, BFloat16) {
    const __m512i first = (__m512i)x.low.r[0];
    const __m512i second = (__m512i)x.high.r[0];
    return round_words(_mm512_permutex2var_epi16(first, _mm512_load_si512(kGatherHigh), second),
                       _mm512_permutex2var_epi16(first, _mm512_load_si512(kGatherLow), second));
}

#else

struct PairVector {
    HalfVector low;
    HalfVector high;
};

template <class T>
AG_INLINE PairVector narrow_canonical(LanePair x, T) {
    return {narrow_canonical(x.low, T{}), narrow_canonical(x.high, T{})};
}

#endif

// A pair as T, to be stored more than once.
template <class T>
struct Packed {
    using Type = PairVector;
};
template <>
struct Packed<float> {
    using Type = LanePair;
};
// Of lanes without a NaN but the canonical one.
template <class T>
AG_INLINE typename Packed<T>::Type pack_canonical(LanePair x) {
    if constexpr (sizeof(T) == 2) {
        return narrow_canonical(x, T{});
    } else {
        return x;
    }
}
template <class T>
AG_INLINE typename Packed<T>::Type pack(LanePair x) {
    return pack_canonical<T>(canonical(x));
}

template <class T>
AG_INLINE LanePair load_pair(const T* p) {
    return {load(p), load(p + kLanes)};
}

// The first n elements, 0 <= n <= 32; the others are 0 and their memory is not touched.
template <class T>
AG_INLINE LanePair load_first_pair(const T* p, int n) {
    return {load_first(p, n < kLanes ? n : kLanes),
            load_first(p + kLanes, n > kLanes ? n - kLanes : 0)};
}
template <class T>
AG_INLINE void store_first_pair(T* p, LanePair x, int n) {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 2) {
        _mm512_mask_storeu_epi16(p, first_pair_lanes(n), pack<T>(x));
        return;
    }
#endif
    store_first(p, x.low, n < kLanes ? n : kLanes);
    if (n > kLanes) store_first(p + kLanes, x.high, n - kLanes);
}

// For what is done to each of thirty-two elements alone: as lanes in some order and, without a NaN
// but the canonical one, back in place. Of bfloat16 the lanes are every second element, which takes
// no shuffle.
template <class T>
AG_INLINE LanePair load_permuted(const T* p) {
    return load_pair(p);
}
template <class T>
AG_INLINE typename Packed<T>::Type pack_permuted(LanePair x) {
    return pack_canonical<T>(x);
}
// Floats in the order of load_permuted() of T.
template <class T>
AG_INLINE LanePair permuted_as(LanePair x) {
    return x;
}
#if defined(__AVX512F__)
// The even elements and the odd ones.
AG_INLINE LanePair split(LanePair x) {
    const auto low = (__m512)x.low.r[0], high = (__m512)x.high.r[0];
    const __m512i even =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odd = _mm512_set_epi32(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    return {{{(Register)_mm512_permutex2var_ps(low, even, high)}},
            {{(Register)_mm512_permutex2var_ps(low, odd, high)}}};
}
AG_INLINE LanePair split(__m512i bits, BFloat16) {
    return {{{(Register)_mm512_slli_epi32(bits, 16)}},
            {{(Register)_mm512_maskz_mov_epi16(kHighWords, bits)}}};
}
template <>
AG_INLINE LanePair permuted_as<BFloat16>(LanePair x) {
    return split(x);
}
AG_INLINE LanePair load_permuted(const BFloat16* p) {
    return split(_mm512_loadu_si512(p), BFloat16{});
}
template <>
AG_INLINE PairVector pack_permuted<BFloat16>(LanePair x) {
    const __m512i even = (__m512i)x.low.r[0];
    const __m512i odd = (__m512i)x.high.r[0];
    return round_words(_mm512_mask_blend_epi16(kHighWords, _mm512_srli_epi32(even, 16), odd),
                       _mm512_mask_blend_epi16(kHighWords, even, _mm512_slli_epi32(odd, 16)));
}
#endif
template <class T>
AG_INLINE void store_packed(T* p, const typename Packed<T>::Type& x) {
    if constexpr (sizeof(T) == 2) {
        std::memcpy(p, &x, sizeof(x));
    } else {
        store_raw(p, x.low);
        store_raw(p + kLanes, x.high);
    }
}
template <class T>
AG_INLINE void store_pair(T* p, LanePair x) {
    store_packed(p, pack<T>(x));
}
// The first n elements, 0 <= n <= 32.
template <class T>
AG_INLINE void store_first_packed(T* p, const typename Packed<T>::Type& x, int n) {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 2) {
        _mm512_mask_storeu_epi16(p, first_pair_lanes(n), x);
    } else {
        _mm512_mask_storeu_ps(p, first_lanes(n < kLanes ? n : kLanes), (__m512)x.low.r[0]);
        _mm512_mask_storeu_ps(p + kLanes, first_lanes(n > kLanes ? n - kLanes : 0),
                              (__m512)x.high.r[0]);
    }
#else
    std::memcpy(p, &x, sizeof(T) * static_cast<size_t>(n));
#endif
}

}  // namespace
}  // namespace ascend_grad
