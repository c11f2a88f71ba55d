// Two vectors interleaved, as floats or already rounded to 16 bit.
#pragma once

#include "isa/pair.h"

namespace ascend_grad {
namespace {

// low = a0 b0 a1 b1 ..., high = a8 b8 a9 b9 ...
AG_INLINE void interleave(Lanes a, Lanes b, Lanes& low, Lanes& high) {
#if defined(__AVX512F__)
    const __m512i first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i second = _mm512_add_epi32(first, _mm512_set1_epi32(8));
    low.r[0] = (Register)_mm512_permutex2var_ps((__m512)a.r[0], first, (__m512)b.r[0]);
    high.r[0] = (Register)_mm512_permutex2var_ps((__m512)a.r[0], second, (__m512)b.r[0]);
#elif defined(__AVX2__)
    Lanes* const halves[] = {&low, &high};
    AG_EACH (i, kRegisters) {
        const __m256 even = _mm256_unpacklo_ps((__m256)a.r[i], (__m256)b.r[i]);
        const __m256 odd = _mm256_unpackhi_ps((__m256)a.r[i], (__m256)b.r[i]);
        halves[i]->r[0] = (Register)_mm256_permute2f128_ps(even, odd, 0x20);
        halves[i]->r[1] = (Register)_mm256_permute2f128_ps(even, odd, 0x31);
    }
#else
    Register all[2 * kRegisters];
    AG_EACH (i, kRegisters) {
#if defined(__x86_64__)
        all[2 * i] = _mm_unpacklo_ps(a.r[i], b.r[i]);
        all[2 * i + 1] = _mm_unpackhi_ps(a.r[i], b.r[i]);
#else
        all[2 * i] = vzip1q_f32(a.r[i], b.r[i]);
        all[2 * i + 1] = vzip2q_f32(a.r[i], b.r[i]);
#endif
    }
    AG_EACH (i, kRegisters) {
        low.r[i] = all[i];
        high.r[i] = all[kRegisters + i];
    }
#endif
}

// a0 b0 a1 b1 ... a15 b15, rounded. Interleaving the rounded halves takes fewer shuffles.
#if defined(__AVX512F__)
alignas(64) constexpr uint16_t kInterleaveWords[32] = {0,  32, 1,  33, 2,  34, 3,  35, 4,  36, 5,
                                                       37, 6,  38, 7,  39, 8,  40, 9,  41, 10, 42,
                                                       11, 43, 12, 44, 13, 45, 14, 46, 15, 47};
AG_INLINE PairVector narrow_interleaved(LanePair x, Float16) {
    x = canonical(x);
    const __m512i a = _mm512_castsi256_si512(narrow_canonical(x.low, Float16{}));
    const __m512i b = _mm512_castsi256_si512(narrow_canonical(x.high, Float16{}));
    return _mm512_permutex2var_epi16(a, _mm512_load_si512(kInterleaveWords), b);
}
AG_INLINE PairVector narrow_interleaved(LanePair x, BFloat16) {
    return pack_permuted<BFloat16>(canonical(x));
}
#elif defined(__AVX2__)
AG_INLINE PairVector narrow_interleaved(LanePair x, Float16) {
    x = canonical(x);
    const __m256i a = narrow_canonical(x.low, Float16{});
    const __m256i b = narrow_canonical(x.high, Float16{});
    const __m256i even = _mm256_unpacklo_epi16(a, b);
    const __m256i odd = _mm256_unpackhi_epi16(a, b);
    return {_mm256_permute2x128_si256(even, odd, 0x20), _mm256_permute2x128_si256(even, odd, 0x31)};
}
AG_INLINE PairVector narrow_interleaved(LanePair x, BFloat16) {
    x = canonical(x);
    const auto merged = [](Register a, Register b) {
        return _mm256_blend_epi16(round_to_bfloat16(a), _mm256_slli_epi32(round_to_bfloat16(b), 16),
                                  0xaa);
    };
    return {merged(x.low.r[0], x.high.r[0]), merged(x.low.r[1], x.high.r[1])};
}
#else
template <class T>
AG_INLINE PairVector narrow_interleaved(LanePair x, T) {
    LanePair y;
    interleave(x.low, x.high, y.low, y.high);
    return pack<T>(y);
}
#endif

template <class T>
AG_INLINE typename Packed<T>::Type pack_interleaved(LanePair x) {
    if constexpr (sizeof(T) == 2) {
        return narrow_interleaved(x, T{});
    } else {
        x = canonical(x);
        LanePair y;
        interleave(x.low, x.high, y.low, y.high);
        return y;
    }
}
}  // namespace
}  // namespace ascend_grad
