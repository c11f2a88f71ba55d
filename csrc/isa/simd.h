// Sixteen float lanes, the same on every instruction set: 1 register of AVX-512, 2 of AVX, 4 of
// SSE2 or NEON. Arithmetic is plain IEEE float (built with -ffp-contract=off), the sum over lanes
// is a fixed tree: equal results to the bit everywhere. Included only by files that are compiled
// once per level; everything has internal linkage so that the linker can never mix levels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/float16.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace ascend_grad {
namespace {

#define AG_INLINE inline __attribute__((always_inline))

#if defined(__AVX512F__)
constexpr int kRegisterLanes = 16;
#elif defined(__AVX2__)
constexpr int kRegisterLanes = 8;
#else
constexpr int kRegisterLanes = 4;
#endif
constexpr int kLanes = 16;
constexpr int kRegisters = kLanes / kRegisterLanes;

typedef float Register __attribute__((vector_size(4 * kRegisterLanes)));
typedef uint32_t RegisterBits __attribute__((vector_size(4 * kRegisterLanes)));
typedef float Quad __attribute__((vector_size(16)));

struct Lanes {
    Register r[kRegisters];
};

#define AG_EACH_REGISTER for (int i = 0; i < kRegisters; ++i)

AG_INLINE Lanes splat(float value) {
    Lanes result;
    AG_EACH_REGISTER result.r[i] = value - Register{};
    return result;
}
AG_INLINE Lanes operator+(Lanes a, Lanes b) {
    AG_EACH_REGISTER a.r[i] = a.r[i] + b.r[i];
    return a;
}
AG_INLINE Lanes operator-(Lanes a, Lanes b) {
    AG_EACH_REGISTER a.r[i] = a.r[i] - b.r[i];
    return a;
}
AG_INLINE Lanes operator*(Lanes a, Lanes b) {
    AG_EACH_REGISTER a.r[i] = a.r[i] * b.r[i];
    return a;
}
AG_INLINE Lanes operator/(Lanes a, Lanes b) {
    AG_EACH_REGISTER a.r[i] = a.r[i] / b.r[i];
    return a;
}
// x > 0 ? positive : other, lane by lane; NaN takes `other`.
AG_INLINE Lanes select_positive(Lanes x, Lanes positive, Lanes other) {
    AG_EACH_REGISTER other.r[i] = x.r[i] > Register{} ? positive.r[i] : other.r[i];
    return other;
}
AG_INLINE Lanes canonical(Lanes x) {
    const RegisterBits nan = kCanonicalNan - RegisterBits{};
    AG_EACH_REGISTER x.r[i] = x.r[i] == x.r[i] ? x.r[i] : (Register)nan;
    return x;
}

// ((l0 + l8) + (l4 + l12)) + ...: lanes i and i + 8, then i + 4, i + 2, i + 1.
AG_INLINE float tree_sum(Lanes x) {
    Quad quads[4];
    std::memcpy(quads, &x, sizeof(quads));
    const Quad eight_apart[2] = {quads[0] + quads[2], quads[1] + quads[3]};
    const Quad q = eight_apart[0] + eight_apart[1];
    return (q[0] + q[2]) + (q[1] + q[3]);
}

// Loads and stores of whole lanes, of any alignment.
// ---------------------------------------------------------------

AG_INLINE Lanes load(const float* p) {
    Lanes result;
    AG_EACH_REGISTER std::memcpy(&result.r[i], p + i * kRegisterLanes, sizeof(Register));
    return result;
}
AG_INLINE void store_raw(float* p, Lanes x) {
    AG_EACH_REGISTER std::memcpy(p + i * kRegisterLanes, &x.r[i], sizeof(Register));
}
AG_INLINE void store(float* p, Lanes x) {
    store_raw(p, canonical(x));
}

// The sixteen 16-bit patterns of a float16 or bfloat16 vector.
struct Halves {
    uint64_t w[4];
};

#if defined(__AVX512F__)

AG_INLINE Lanes widen(__m256i bits, Float16) {
    return {{(Register)_mm512_cvtph_ps(bits)}};
}
AG_INLINE Lanes widen(__m256i bits, BFloat16) {
    return {{(Register)_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16)}};
}
AG_INLINE __m256i narrow(Lanes x, Float16) {
    return _mm512_cvtps_ph((__m512)canonical(x).r[0],
                           _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
AG_INLINE __m256i narrow(Lanes x, BFloat16) {
    const __m512i bits = (__m512i)canonical(x).r[0];
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
AG_INLINE __m256i narrow(Lanes x, Float16) {
    x = canonical(x);
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
AG_INLINE __m256i narrow(Lanes x, BFloat16) {
    x = canonical(x);
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
    AG_EACH_REGISTER result.r[i] = (Register)(widen_bits(bits.w[i]) << 16);
    return result;
}
AG_INLINE Halves narrow(Lanes x, BFloat16) {
    Halves result;
    x = canonical(x);
    AG_EACH_REGISTER {
        const QuadBits bits = (QuadBits)x.r[i];
        result.w[i] = narrow_bits((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
    }
    return result;
}

#if defined(__aarch64__)

AG_INLINE Lanes widen(Halves bits, Float16) {
    Lanes result;
    AG_EACH_REGISTER result.r[i] = vcvt_f32_f16(vreinterpret_f16_u64(vcreate_u64(bits.w[i])));
    return result;
}
AG_INLINE Halves narrow(Lanes x, Float16) {
    Halves result;
    x = canonical(x);
    AG_EACH_REGISTER result.w[i] = vget_lane_u64(vreinterpret_u64_f16(vcvt_f16_f32(x.r[i])), 0);
    return result;
}

#else

// The same steps as the scalar conversions of float16.h.
AG_INLINE Lanes widen(Halves bits, Float16) {
    Lanes result;
    AG_EACH_REGISTER {
        const QuadBits half = widen_bits(bits.w[i]);
        const QuadBits magnitude = (half & 0x7fffu) << 13;
        const Quad scaled = (Quad)magnitude * float_from_bits(0x77800000u);
        const QuadBits special = magnitude | 0x7f800000u;
        const QuadBits value = magnitude >= 0x0f800000u ? special : (QuadBits)scaled;
        result.r[i] = (Register)((half & 0x8000u) << 16 | value);
    }
    return result;
}
AG_INLINE Halves narrow(Lanes x, Float16) {
    Halves result;
    x = canonical(x);
    AG_EACH_REGISTER {
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
AG_INLINE Lanes load(const T* p) {
    HalfVector bits;
    std::memcpy(&bits, p, sizeof(bits));
    return widen(bits, T{});
}
template <class T>
AG_INLINE void store(T* p, Lanes x) {
    const HalfVector bits = narrow(x, T{});
    std::memcpy(p, &bits, sizeof(bits));
}
AG_INLINE void store(double* p, Lanes x) {
    x = canonical(x);
    float values[kLanes];
    std::memcpy(values, &x, sizeof(values));
    for (int i = 0; i < kLanes; ++i) p[i] = values[i];
}

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

// Loads and stores of the first n lanes, 0 <= n <= 16; the other lanes are 0 and their memory is
// not touched. ---------

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
AG_INLINE Lanes load_first(const float* p, int n) {
#if defined(__AVX2__)
    const __m256i counts = _mm256_set1_epi32(n);
    const __m256i low = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i high = _mm256_add_epi32(low, _mm256_set1_epi32(8));
    return {{(Register)_mm256_maskload_ps(p, _mm256_cmpgt_epi32(counts, low)),
             (Register)_mm256_maskload_ps(p + 8, _mm256_cmpgt_epi32(counts, high))}};
#else
    Lanes result;
    AG_EACH_REGISTER {
        const int left = n - 4 * i;
        Quad quad{};
        if (left >= 4) {
            std::memcpy(&quad, p + 4 * i, sizeof(quad));
        } else {
            if (left > 0) quad[0] = p[4 * i];
            if (left > 1) quad[1] = p[4 * i + 1];
            if (left > 2) quad[2] = p[4 * i + 2];
        }
        result.r[i] = quad;
    }
    return result;
#endif
}
// Up to three floats of a quad.
AG_INLINE void store_up_to_three(float* p, Quad x, int n) {
    if (n >= 2) std::memcpy(p, &x, 8);
    if (n == 1) p[0] = x[0];
    if (n == 3) p[2] = x[2];
}
AG_INLINE void store_first(float* p, Lanes x, int n) {
    x = canonical(x);
    Quad quads[4];
    std::memcpy(quads, &x, sizeof(quads));
    int i = 0;
    for (; 4 * i + 4 <= n; ++i) std::memcpy(p + 4 * i, &quads[i], sizeof(Quad));
    if (4 * i < n) store_up_to_three(p + 4 * i, quads[i], n - 4 * i);
}
template <class T>
AG_INLINE Lanes load_first(const T* p, int n) {
    const char* bytes = reinterpret_cast<const char*>(p);
    Halves halves;
    for (int i = 0; i < 4; ++i) halves.w[i] = load_up_to_four(bytes + 8 * i, n - 4 * i);
    HalfVector bits;
    std::memcpy(&bits, &halves, sizeof(bits));
    return widen(bits, T{});
}
template <class T>
AG_INLINE void store_first(T* p, Lanes x, int n) {
    const HalfVector bits = narrow(x, T{});
    Halves halves;
    std::memcpy(&halves, &bits, sizeof(bits));
    char* bytes = reinterpret_cast<char*>(p);
    for (int i = 0; i < 4; ++i) store_up_to_four(bytes + 8 * i, halves.w[i], n - 4 * i);
}

#endif

AG_INLINE void store_first(double* p, Lanes x, int n) {
    x = canonical(x);
    float values[kLanes];
    std::memcpy(values, &x, sizeof(values));
    for (int i = 0; i < n; ++i) p[i] = values[i];
}

// Non-temporal store of 16 lanes to a 16-byte aligned address; fence before others read it.
AG_INLINE void stream_bytes(char* p, const char* from, size_t bytes) {
#if defined(__x86_64__)
    for (size_t i = 0; i < bytes; i += 16) {
        _mm_stream_si128(reinterpret_cast<__m128i*>(p + i),
                         _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
    }
#else
    std::memcpy(p, from, bytes);
#endif
}
AG_INLINE void stream_store(float* p, Lanes x) {
    x = canonical(x);
    stream_bytes(reinterpret_cast<char*>(p), reinterpret_cast<const char*>(&x), sizeof(x));
}
template <class T>
AG_INLINE void stream_store(T* p, Lanes x) {
    const HalfVector bits = narrow(x, T{});
    stream_bytes(reinterpret_cast<char*>(p), reinterpret_cast<const char*>(&bits), sizeof(bits));
}

AG_INLINE void stream_store(double* p, Lanes x) {
    store(p, x);
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

// Non-temporal copy of whole 64-byte lines to a 64-byte aligned destination; fence before others
// read it.
AG_INLINE void stream_lines(char* to, const char* from, size_t bytes) {
#if defined(__x86_64__)
    for (size_t i = 0; i < bytes; i += 64) {
#if defined(__AVX512F__)
        _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i), _mm512_loadu_si512(from + i));
#elif defined(__AVX2__)
        for (size_t j = 0; j < 64; j += 32) {
            _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i + j),
                                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i + j)));
        }
#else
        for (size_t j = 0; j < 64; j += 16) {
            _mm_stream_si128(reinterpret_cast<__m128i*>(to + i + j),
                             _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i + j)));
        }
#endif
    }
#else
    std::memcpy(to, from, bytes);
#endif
}
AG_INLINE void stream_fence() {
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

}  // namespace
}  // namespace ascend_grad
