// Rearrangements: every second element, two vectors interleaved, 4 x 4 blocks transposed.
#pragma once

#include "isa/convert.h"

namespace ascend_grad {
namespace {

// The even elements of the 31 that start at p: element 31 is read too, but not used.
AG_INLINE Lanes load_every_second(const float* p) {
#if defined(__AVX512F__)
    const __m512i even =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    return {{(Register)_mm512_permutex2var_ps(_mm512_loadu_ps(p), even, _mm512_loadu_ps(p + 16))}};
#elif defined(__AVX2__)
    Lanes result;
    AG_EACH_REGISTER {
        const __m256 pairs =
            _mm256_shuffle_ps(_mm256_loadu_ps(p + 16 * i), _mm256_loadu_ps(p + 16 * i + 8), 0x88);
        result.r[i] = (Register)_mm256_permute4x64_pd((__m256d)pairs, 0xd8);
    }
    return result;
#elif defined(__x86_64__)
    Lanes result;
    AG_EACH_REGISTER result.r[i] =
        _mm_shuffle_ps(_mm_loadu_ps(p + 8 * i), _mm_loadu_ps(p + 8 * i + 4), 0x88);
    return result;
#else
    Lanes result;
    AG_EACH_REGISTER result.r[i] = vuzp1q_f32(vld1q_f32(p + 8 * i), vld1q_f32(p + 8 * i + 4));
    return result;
#endif
}
template <class T>
AG_INLINE Lanes load_every_second(const T* p) {
#if defined(__AVX512F__)
    return widen(_mm512_cvtepi32_epi16(_mm512_loadu_si512(p)), T{});
#elif defined(__AVX2__)
    const __m256i low =
        _mm256_and_si256(_mm256_loadu_si256((const __m256i*)p), _mm256_set1_epi32(0xffff));
    const __m256i high =
        _mm256_and_si256(_mm256_loadu_si256((const __m256i*)(p + 16)), _mm256_set1_epi32(0xffff));
    return widen(_mm256_permute4x64_epi64(_mm256_packus_epi32(low, high), 0xd8), T{});
#else
    Halves halves;
    for (int i = 0; i < 4; ++i) {
        QuadBits pairs;
        std::memcpy(&pairs, p + 8 * i, sizeof(pairs));
        halves.w[i] = narrow_bits(pairs & 0xffffu);
    }
    return widen(halves, T{});
#endif
}

// low = a0 b0 a1 b1 ..., high = a8 b8 a9 b9 ...
AG_INLINE void interleave(Lanes a, Lanes b, Lanes& low, Lanes& high) {
#if defined(__AVX512F__)
    const __m512i first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i second = _mm512_add_epi32(first, _mm512_set1_epi32(8));
    low.r[0] = (Register)_mm512_permutex2var_ps((__m512)a.r[0], first, (__m512)b.r[0]);
    high.r[0] = (Register)_mm512_permutex2var_ps((__m512)a.r[0], second, (__m512)b.r[0]);
#elif defined(__AVX2__)
    Lanes* const halves[] = {&low, &high};
    AG_EACH_REGISTER {
        const __m256 even = _mm256_unpacklo_ps((__m256)a.r[i], (__m256)b.r[i]);
        const __m256 odd = _mm256_unpackhi_ps((__m256)a.r[i], (__m256)b.r[i]);
        halves[i]->r[0] = (Register)_mm256_permute2f128_ps(even, odd, 0x20);
        halves[i]->r[1] = (Register)_mm256_permute2f128_ps(even, odd, 0x31);
    }
#else
    Register all[2 * kRegisters];
    AG_EACH_REGISTER {
#if defined(__x86_64__)
        all[2 * i] = _mm_unpacklo_ps(a.r[i], b.r[i]);
        all[2 * i + 1] = _mm_unpackhi_ps(a.r[i], b.r[i]);
#else
        all[2 * i] = vzip1q_f32(a.r[i], b.r[i]);
        all[2 * i + 1] = vzip2q_f32(a.r[i], b.r[i]);
#endif
    }
    AG_EACH_REGISTER {
        low.r[i] = all[i];
        high.r[i] = all[kRegisters + i];
    }
#endif
}

// Transposes a 4 x 4 block of floats between two row-major arrays.
AG_INLINE void transpose_4x4(Quad& a, Quad& b, Quad& c, Quad& d) {
#if defined(__x86_64__)
    _MM_TRANSPOSE4_PS(a, b, c, d);
#elif defined(__aarch64__)
    const float32x4x2_t ab = vtrnq_f32(a, b);
    const float32x4x2_t cd = vtrnq_f32(c, d);
    a = vcombine_f32(vget_low_f32(ab.val[0]), vget_low_f32(cd.val[0]));
    b = vcombine_f32(vget_low_f32(ab.val[1]), vget_low_f32(cd.val[1]));
    c = vcombine_f32(vget_high_f32(ab.val[0]), vget_high_f32(cd.val[0]));
    d = vcombine_f32(vget_high_f32(ab.val[1]), vget_high_f32(cd.val[1]));
#else
#error "this architecture has no instruction set level"
#endif
}
}  // namespace
}  // namespace ascend_grad
