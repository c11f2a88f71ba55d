// Loads of every second element.
#pragma once

#include "isa/pair.h"

namespace ascend_grad {
namespace {

// The even elements of the 31 that start at p: element 31 is read too, but not used.
AG_INLINE Lanes load_every_second(const float* p) {
#if defined(__AVX512F__)
    const __m512i even =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    return {{(Register)_mm512_permutex2var_ps(_mm512_loadu_ps(p), even, _mm512_loadu_ps(p + 16))}};
#elif defined(__AVX2__)
    return each_register([&](int i) {
        const __m256 pairs =
            _mm256_shuffle_ps(_mm256_loadu_ps(p + 16 * i), _mm256_loadu_ps(p + 16 * i + 8), 0x88);
        return (Register)_mm256_permute4x64_pd((__m256d)pairs, 0xd8);
    });
#elif defined(__x86_64__)
    Lanes result;
    AG_EACH (i, kRegisters)
        result.r[i] = _mm_shuffle_ps(_mm_loadu_ps(p + 8 * i), _mm_loadu_ps(p + 8 * i + 4), 0x88);
    return result;
#else
    Lanes result;
    AG_EACH (i, kRegisters)
        result.r[i] = vuzp1q_f32(vld1q_f32(p + 8 * i), vld1q_f32(p + 8 * i + 4));
    return result;
#endif
}
AG_INLINE Lanes every_second_bits(const float* p) {
    return load_every_second(p);
}
// Of 16 bit, not yet widened.
template <class T>
AG_INLINE HalfVector every_second_bits(const T* p) {
#if defined(__AVX512F__)
    return _mm512_cvtepi32_epi16(_mm512_loadu_si512(p));
#elif defined(__AVX2__)
    const __m256i low =
        _mm256_and_si256(_mm256_loadu_si256((const __m256i*)p), _mm256_set1_epi32(0xffff));
    const __m256i high =
        _mm256_and_si256(_mm256_loadu_si256((const __m256i*)(p + 16)), _mm256_set1_epi32(0xffff));
    return _mm256_permute4x64_epi64(_mm256_packus_epi32(low, high), 0xd8);
#else
    Halves halves;
    for (int i = 0; i < 4; ++i) {
        QuadBits pairs;
        std::memcpy(&pairs, p + 8 * i, sizeof(pairs));
        halves.w[i] = narrow_bits(pairs & 0xffffu);
    }
    return halves;
#endif
}
template <class T>
AG_INLINE Lanes load_every_second(const T* p) {
    return widen(every_second_bits(p), T{});
}

#if defined(__AVX2__)
// An even element is the low half of its 32-bit word.
AG_INLINE Lanes load_every_second(const BFloat16* p) {
#if defined(__AVX512F__)
    return {{(Register)_mm512_slli_epi32(_mm512_loadu_si512(p), 16)}};
#else
    return each_register([&](int i) {
        const auto* eight = reinterpret_cast<const __m256i*>(p + 2 * kRegisterLanes * i);
        return (Register)_mm256_slli_epi32(_mm256_loadu_si256(eight), 16);
    });
#endif
}
#endif
template <class T>
AG_INLINE LanePair load_pair_every_second(const T* p) {
    return {load_every_second(p), load_every_second(p + 2 * kLanes)};
}
// The even elements of the 2 n - 1 that start at p, 0 < n <= 16; the other lanes are 0 and their
// memory is not touched.
template <class T>
AG_INLINE_UNLESS_COMPACT Lanes load_first_every_second(const T* p, int n) {
#if defined(__AVX512F__)
    const __mmask32 mask = first_pair_lanes(2 * n - 1);
    alignas(64) T values[kPairLanes];
    if constexpr (sizeof(T) == 2) {
        _mm512_store_si512(values, _mm512_maskz_loadu_epi16(mask, p));
    } else {
        const auto low = static_cast<__mmask16>(mask);
        _mm512_store_ps(values, _mm512_maskz_loadu_ps(low, p));
        _mm512_store_ps(values + kLanes,
                        _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask >> kLanes), p + kLanes));
    }
#else
    T values[kPairLanes] = {};
    std::memcpy(values, p, (2 * static_cast<size_t>(n) - 1) * sizeof(T));
#endif
    return load_every_second(values);
}

// Loads of elements `kStep` apart in memory. Of step 2, whole loads also read the element after
// their last one.
template <int kStep, class U>
AG_INLINE LanePair load_pair_of(const U* p, int i) {
    if constexpr (kStep == 1) return load_pair(p + i);
    return load_pair_every_second(p + 2 * i);
}
template <int kStep, class U>
AG_INLINE Lanes load_of(const U* p, int i) {
    if constexpr (kStep == 1) return load(p + i);
    return load_every_second(p + 2 * i);
}
template <int kStep, class U>
AG_INLINE Lanes load_first_of(const U* p, int i, int n) {
    if constexpr (kStep == 1) return load_first(p + i, n);
    return load_first_every_second(p + 2 * i, n);
}

}  // namespace
}  // namespace ascend_grad
