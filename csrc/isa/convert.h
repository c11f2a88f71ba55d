// Sixteen elements of another dtype as float lanes and back, rounded to nearest even.
#pragma once

#include "isa/lanes.h"

namespace ascend_grad {
namespace {

// The sixteen 16-bit patterns of a float16 or bfloat16 vector.
struct Halves {
    uint64_t w[4];
};

#if defined(__AVX512F__)

AG_INLINE Lanes widen(__m256i bits, Float16) {
    return {{(Register)_mm512_cvtph_ps(bits)}};
}
constexpr __mmask32 kHighWords = 0xaaaaaaaa;
// Word 2 j + 1 of a register is element j.
alignas(64) constexpr uint16_t kSpread[32] = {0, 0, 0, 1, 0, 2,  0, 3,  0, 4,  0, 5,  0, 6,  0, 7,
                                              0, 8, 0, 9, 0, 10, 0, 11, 0, 12, 0, 13, 0, 14, 0, 15};
AG_INLINE Lanes widen(__m256i bits, BFloat16) {
    return {{(Register)_mm512_maskz_permutexvar_epi16(kHighWords, _mm512_load_si512(kSpread),
                                                      _mm512_castsi256_si512(bits))}};
}
// These take lanes without a NaN but the canonical one.
AG_INLINE __m256i narrow_canonical(Lanes x, Float16) {
    return _mm512_cvtps_ph((__m512)x.r[0], _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
AG_INLINE __m256i narrow_canonical(Lanes x, BFloat16) {
    const __m512i bits = (__m512i)x.r[0];
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded =
        _mm512_add_epi32(_mm512_add_epi32(bits, odd), _mm512_set1_epi32(0x7fff));
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16));
}

#elif defined(__AVX2__)

AG_INLINE Lanes widen(__m256i bits, Float16) {
    return {{(Register)_mm256_cvtph_ps(_mm256_castsi256_si128(bits)),
             (Register)_mm256_cvtph_ps(_mm256_extracti128_si256(bits, 1))}};
}
AG_INLINE Lanes widen(__m256i bits, BFloat16) {
    const __m256i low = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(bits));
    const __m256i high = _mm256_cvtepu16_epi32(_mm256_extracti128_si256(bits, 1));
    return {{(Register)_mm256_slli_epi32(low, 16), (Register)_mm256_slli_epi32(high, 16)}};
}
AG_INLINE __m256i narrow_canonical(Lanes x, Float16) {
    const __m128i low =
        _mm256_cvtps_ph((__m256)x.r[0], _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m128i high =
        _mm256_cvtps_ph((__m256)x.r[1], _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}
AG_INLINE __m256i round_to_bfloat16(Register x) {
    const __m256i bits = (__m256i)x;
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i rounded =
        _mm256_add_epi32(_mm256_add_epi32(bits, odd), _mm256_set1_epi32(0x7fff));
    return _mm256_srli_epi32(rounded, 16);
}
AG_INLINE __m256i narrow_canonical(Lanes x, BFloat16) {
    const __m256i packed =
        _mm256_packus_epi32(round_to_bfloat16(x.r[0]), round_to_bfloat16(x.r[1]));
    return _mm256_permute4x64_epi64(packed, 0xd8);
}

#else

typedef uint32_t QuadBits __attribute__((vector_size(16)));
typedef uint16_t QuadHalves __attribute__((vector_size(8)));

AG_INLINE QuadBits widen_bits(uint64_t four) {
    QuadHalves halves;
    std::memcpy(&halves, &four, sizeof(halves));
    return __builtin_convertvector(halves, QuadBits);
}
AG_INLINE uint64_t narrow_bits(QuadBits bits) {
    const QuadHalves halves = __builtin_convertvector(bits, QuadHalves);
    uint64_t four;
    std::memcpy(&four, &halves, sizeof(four));
    return four;
}

AG_INLINE Lanes widen(Halves bits, BFloat16) {
    Lanes result;
    AG_EACH (i, kRegisters) result.r[i] = (Register)(widen_bits(bits.w[i]) << 16);
    return result;
}
AG_INLINE Halves narrow_canonical(Lanes x, BFloat16) {
    Halves result;
    AG_EACH (i, kRegisters) {
        const QuadBits bits = (QuadBits)x.r[i];
        result.w[i] = narrow_bits((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
    }
    return result;
}

#if defined(__aarch64__)

AG_INLINE Lanes widen(Halves bits, Float16) {
    Lanes result;
    AG_EACH (i, kRegisters)
        result.r[i] = vcvt_f32_f16(vreinterpret_f16_u64(vcreate_u64(bits.w[i])));
    return result;
}
AG_INLINE Halves narrow_canonical(Lanes x, Float16) {
    Halves result;
    AG_EACH (i, kRegisters)
        result.w[i] = vget_lane_u64(vreinterpret_u64_f16(vcvt_f16_f32(x.r[i])), 0);
    return result;
}

#else

// The same steps as the scalar conversions of float16.h.
AG_INLINE Lanes widen(Halves bits, Float16) {
    Lanes result;
    AG_EACH (i, kRegisters) {
        const QuadBits half = widen_bits(bits.w[i]);
        const QuadBits magnitude = (half & 0x7fffu) << 13;
        const Quad scaled = (Quad)magnitude * float_from_bits(0x77800000u);
        const QuadBits special = magnitude | 0x7f800000u;
        const QuadBits value = magnitude >= 0x0f800000u ? special : (QuadBits)scaled;
        result.r[i] = (Register)((half & 0x8000u) << 16 | value);
    }
    return result;
}
AG_INLINE Halves narrow_canonical(Lanes x, Float16) {
    Halves result;
    AG_EACH (i, kRegisters) {
        const QuadBits bits = (QuadBits)x.r[i];
        const QuadBits magnitude = bits & 0x7fffffffu;
        const QuadBits small = (QuadBits)((Quad)magnitude + 0.5f) - 0x3f000000u;
        const QuadBits normal = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
        const QuadBits infinite = QuadBits{} + 0x7c00u;
        const QuadBits nan = QuadBits{} + 0x7e00u;
        QuadBits half = magnitude < 0x38800000u ? small : normal;
        half = magnitude >= 0x477ff000u ? infinite : half;
        half = magnitude > 0x7f800000u ? nan : half;
        result.w[i] = narrow_bits(half | (bits >> 16 & 0x8000u));
    }
    return result;
}

#endif
#endif

#if defined(__AVX2__)
using HalfVector = __m256i;
#else
using HalfVector = Halves;
#endif

template <class T>
AG_INLINE HalfVector narrow(Lanes x, T) {
    return narrow_canonical(canonical(x), T{});
}
template <class T>
AG_INLINE Lanes load(const T* p) {
    HalfVector bits;
    std::memcpy(&bits, p, sizeof(bits));
    return widen(bits, T{});
}
#if defined(__AVX2__) && !defined(__AVX512F__)
// A broadcast that reads memory costs no shuffle, so that one per register is left.
AG_INLINE Lanes load(const BFloat16* p) {
    const __m256i order =
        _mm256_setr_epi8(-1, -1, 0, 1, -1, -1, 2, 3, -1, -1, 4, 5, -1, -1, 6, 7,  //
                         -1, -1, 8, 9, -1, -1, 10, 11, -1, -1, 12, 13, -1, -1, 14, 15);
    return each_register([&](int i) {
        const __m128i eight = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 8 * i));
        return (Register)_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(eight), order);
    });
}
#endif
template <class T>
AG_INLINE void store(T* p, Lanes x) {
    const HalfVector bits = narrow(x, T{});
    std::memcpy(p, &bits, sizeof(bits));
}
AG_INLINE void store(double* p, Lanes x) {
    x = canonical(x);
    float values[kLanes];
    std::memcpy(values, &x, sizeof(values));
    double wide[kLanes];
    for (int i = 0; i < kLanes; ++i) wide[i] = values[i];
    std::memcpy(p, wide, sizeof(wide));
}
}  // namespace
}  // namespace ascend_grad
