// Loads and stores of the first n lanes, 0 <= n <= 16; the other lanes are 0 and their memory is
// not touched.
#pragma once

#include "isa/convert.h"

namespace ascend_grad {
namespace {

#if defined(__AVX512F__)

AG_INLINE __mmask16 first_lanes(int n) {
    return static_cast<__mmask16>((1u << n) - 1);
}
AG_INLINE Lanes load_first(const float* p, int n) {
    return {{(Register)_mm512_maskz_loadu_ps(first_lanes(n), p)}};
}
AG_INLINE void store_first(float* p, Lanes x, int n) {
    _mm512_mask_storeu_ps(p, first_lanes(n), (__m512)canonical(x).r[0]);
}
template <class T>
AG_INLINE Lanes load_first(const T* p, int n) {
    return widen(_mm256_maskz_loadu_epi16(first_lanes(n), p), T{});
}
template <class T>
AG_INLINE void store_first(T* p, Lanes x, int n) {
    _mm256_mask_storeu_epi16(p, first_lanes(n), narrow(x, T{}));
}

#else

// Up to four 16-bit elements as one number, the first in the lowest bits.
AG_INLINE uint64_t load_up_to_four(const char* p, int n) {
    uint32_t low = 0;
    uint16_t half = 0;
    if (n >= 4) {
        uint64_t all;
        std::memcpy(&all, p, sizeof(all));
        return all;
    }
    if (n >= 2) {
        std::memcpy(&low, p, sizeof(low));
        if (n == 2) return low;
        std::memcpy(&half, p + 4, sizeof(half));
        return low | static_cast<uint64_t>(half) << 32;
    }
    if (n == 1) std::memcpy(&half, p, sizeof(half));
    return half;
}
AG_INLINE void store_up_to_four(char* p, uint64_t bits, int n) {
    const uint32_t low = static_cast<uint32_t>(bits);
    if (n >= 4) {
        std::memcpy(p, &bits, sizeof(bits));
    } else if (n >= 2) {
        std::memcpy(p, &low, sizeof(low));
        const uint16_t third = static_cast<uint16_t>(bits >> 32);
        if (n == 3) std::memcpy(p + 4, &third, sizeof(third));
    } else if (n == 1) {
        const uint16_t first = static_cast<uint16_t>(bits);
        std::memcpy(p, &first, sizeof(first));
    }
}
AG_INLINE_UNLESS_COMPACT Lanes load_first(const float* p, int n) {
#if defined(__AVX2__)
    const __m256i counts = _mm256_set1_epi32(n);
    const __m256i low = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i high = _mm256_add_epi32(low, _mm256_set1_epi32(8));
    return {{(Register)_mm256_maskload_ps(p, _mm256_cmpgt_epi32(counts, low)),
             (Register)_mm256_maskload_ps(p + 8, _mm256_cmpgt_epi32(counts, high))}};
#else
    Lanes result;
    AG_EACH (i, kRegisters) {
        const int left = n - 4 * i;
        Quad quad{};
        if (left >= 4) {
            std::memcpy(&quad, p + 4 * i, sizeof(quad));
        } else {
            if (left > 0) std::memcpy(&quad, p + 4 * i, sizeof(float));
            if (left > 1) std::memcpy(&quad, p + 4 * i, 2 * sizeof(float));
            if (left > 2) {
                float third;
                std::memcpy(&third, p + 4 * i + 2, sizeof(third));
                quad[2] = third;
            }
        }
        result.r[i] = quad;
    }
    return result;
#endif
}
// One to three floats of a quad.
AG_INLINE void store_up_to_three(float* p, Quad x, int n) {
    std::memcpy(p, &x, n >= 2 ? 2 * sizeof(float) : sizeof(float));
    if (n < 3) return;
    const float third = x[2];
    std::memcpy(p + 2, &third, sizeof(third));
}
AG_INLINE_UNLESS_COMPACT void store_first(float* p, Lanes x, int n) {
    x = canonical(x);
    Quad quads[4];
    std::memcpy(quads, &x, sizeof(quads));
    int i = 0;
    for (; 4 * i + 4 <= n; ++i) std::memcpy(p + 4 * i, &quads[i], sizeof(Quad));
    if (4 * i < n) store_up_to_three(p + 4 * i, quads[i], n - 4 * i);
}
#if defined(__AVX2__)
// Pairs of elements and then an odd one, never through memory: a vector could not be loaded from
// where its parts have just been stored.
template <class T>
AG_INLINE Lanes load_first(const T* p, int n) {
    const __m256i index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256i bits = _mm256_maskload_epi32(reinterpret_cast<const int*>(p),
                                         _mm256_cmpgt_epi32(_mm256_set1_epi32(n / 2), index));
    if (n % 2 != 0) {
        static constexpr uint16_t kSixteenth[31] = {0, 0, 0, 0, 0, 0, 0, 0,
                                                    0, 0, 0, 0, 0, 0, 0, 0xffff};
        int16_t last;
        std::memcpy(&last, p + n - 1, sizeof(last));
        const __m256i place =
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kSixteenth + kLanes - n));
        bits = _mm256_or_si256(bits, _mm256_and_si256(_mm256_set1_epi16(last), place));
    }
    return widen(bits, T{});
}
#else
template <class T>
AG_INLINE_UNLESS_COMPACT Lanes load_first(const T* p, int n) {
    const char* bytes = reinterpret_cast<const char*>(p);
    Halves halves;
    for (int i = 0; i < 4; ++i) halves.w[i] = load_up_to_four(bytes + 8 * i, n - 4 * i);
    HalfVector bits;
    std::memcpy(&bits, &halves, sizeof(bits));
    return widen(bits, T{});
}
#endif
template <class T>
AG_INLINE_UNLESS_COMPACT void store_first(T* p, Lanes x, int n) {
    const HalfVector bits = narrow(x, T{});
    Halves halves;
    std::memcpy(&halves, &bits, sizeof(bits));
    char* bytes = reinterpret_cast<char*>(p);
    for (int i = 0; i < 4; ++i) store_up_to_four(bytes + 8 * i, halves.w[i], n - 4 * i);
}

#endif

}  // namespace
}  // namespace ascend_grad
