// Rearrangements: lanes shifted and rotated, small blocks transposed, short rows stored.
#pragma once

#include "isa/pair.h"

namespace ascend_grad {
namespace {

#if defined(__AVX512F__)
// The lanes of a from kFirst on, 0 < kFirst < 16, and then those of b.
template <int kFirst>
AG_INLINE Lanes joined(Lanes a, Lanes b) {
    return {{(Register)_mm512_alignr_epi32((__m512i)b.r[0], (__m512i)a.r[0], kFirst)}};
}
#endif

// The sixteen that start kBack before p, 0 <= kBack < 16. Where a vector is a cache line, and p
// begins with one, shifting two is cheaper than a load across lines.
template <int kBack>
AG_INLINE Lanes load_before(const float* p) {
#if defined(__AVX512F__)
    if constexpr (kBack > 0) return joined<kLanes - kBack>(load(p - kLanes), load(p));
#endif
    return load(p - kBack);
}

// Transposes a 4 x 4 block of floats, one register a row.
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

// Eight lines of sixteen elements make sixteen rows of eight.
constexpr int kBlockLines = 8;

#if defined(__AVX2__)
#if defined(__AVX512F__)
AG_INLINE Register unpack_low(Register a, Register b) {
    return (Register)_mm512_unpacklo_ps((__m512)a, (__m512)b);
}
AG_INLINE Register unpack_high(Register a, Register b) {
    return (Register)_mm512_unpackhi_ps((__m512)a, (__m512)b);
}
AG_INLINE Register unpack_low_pairs(Register a, Register b) {
    return (Register)_mm512_unpacklo_pd((__m512d)a, (__m512d)b);
}
AG_INLINE Register unpack_high_pairs(Register a, Register b) {
    return (Register)_mm512_unpackhi_pd((__m512d)a, (__m512d)b);
}
#else
AG_INLINE Register unpack_low(Register a, Register b) {
    return (Register)_mm256_unpacklo_ps((__m256)a, (__m256)b);
}
AG_INLINE Register unpack_high(Register a, Register b) {
    return (Register)_mm256_unpackhi_ps((__m256)a, (__m256)b);
}
AG_INLINE Register unpack_low_pairs(Register a, Register b) {
    return (Register)_mm256_unpacklo_pd((__m256d)a, (__m256d)b);
}
AG_INLINE Register unpack_high_pairs(Register a, Register b) {
    return (Register)_mm256_unpackhi_pd((__m256d)a, (__m256d)b);
}
#endif
// Transposes the 4 x 4 block in each quad of four registers.
AG_INLINE void transpose_quads(Register* r) {
    const Register t[] = {unpack_low(r[0], r[1]), unpack_high(r[0], r[1]), unpack_low(r[2], r[3]),
                          unpack_high(r[2], r[3])};
    r[0] = unpack_low_pairs(t[0], t[2]);
    r[1] = unpack_high_pairs(t[0], t[2]);
    r[2] = unpack_low_pairs(t[1], t[3]);
    r[3] = unpack_high_pairs(t[1], t[3]);
}
#endif

AG_INLINE void rows_from_lines(float* rows, int pitch, const Lanes* lines) {
    AG_EACH (i, kRegisters) {
        Register left[4], right[4];
        for (int k = 0; k < 4; ++k) {
            left[k] = lines[k].r[i];
            right[k] = lines[4 + k].r[i];
        }
#if defined(__AVX512F__)
        const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
        const __m512i high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
        transpose_quads(left);
        transpose_quads(right);
        for (int k = 0; k < 4; ++k) {
            float* to = rows + k * pitch;
            const __m512 a =
                (__m512)_mm512_permutex2var_pd((__m512d)left[k], low, (__m512d)right[k]);
            const __m512 b =
                (__m512)_mm512_permutex2var_pd((__m512d)left[k], high, (__m512d)right[k]);
            _mm256_storeu_ps(to, _mm512_castps512_ps256(a));
            _mm256_storeu_ps(to + 4 * pitch, _mm512_extractf32x8_ps(a, 1));
            _mm256_storeu_ps(to + 8 * pitch, _mm512_castps512_ps256(b));
            _mm256_storeu_ps(to + 12 * pitch, _mm512_extractf32x8_ps(b, 1));
        }
#elif defined(__AVX2__)
        transpose_quads(left);
        transpose_quads(right);
        for (int k = 0; k < 4; ++k) {
            float* to = rows + (8 * i + k) * pitch;
            const __m256 a = (__m256)left[k], b = (__m256)right[k];
            _mm256_storeu_ps(to, _mm256_permute2f128_ps(a, b, 0x20));
            _mm256_storeu_ps(to + 4 * pitch, _mm256_permute2f128_ps(a, b, 0x31));
        }
#else
        transpose_4x4(left[0], left[1], left[2], left[3]);
        transpose_4x4(right[0], right[1], right[2], right[3]);
        for (int k = 0; k < 4; ++k) {
            float* to = rows + (4 * i + k) * pitch;
            std::memcpy(to, &left[k], sizeof(Quad));
            std::memcpy(to + 4, &right[k], sizeof(Quad));
        }
#endif
    }
}

#if !defined(__AVX2__)
// The lanes from kFirst on, one to three, and then those of b.
template <int kFirst>
AG_INLINE Quad quad_across(Quad a, Quad b) {
#if defined(__aarch64__)
    return (Quad)vextq_f32((float32x4_t)a, (float32x4_t)b, kFirst);
#else
    if constexpr (kFirst == 2) return (Quad)_mm_shuffle_ps(a, b, 0x4e);
    const __m128 middle = _mm_shuffle_ps(a, b, 0x0f);  // a3 a3 b0 b0
    return (Quad)(kFirst == 1 ? _mm_shuffle_ps(a, middle, 0x89) : _mm_shuffle_ps(middle, b, 0x98));
#endif
}
template <int kFirst>
AG_INLINE Lanes quads_across(Lanes x) {
    Lanes result;
    AG_EACH (i, kRegisters) result.r[i] = quad_across<kFirst>(x.r[i], x.r[(i + 1) % kRegisters]);
    return result;
}
#endif

// Lane i = lane (i + n) % 16 of x; n may be negative.
AG_INLINE Lanes rotate(Lanes x, int n) {
    static_assert((kLanes & (kLanes - 1)) == 0);
    n &= kLanes - 1;
    if (n == 0) return x;
#if defined(__AVX512F__)
    const __m512i first = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return {{(Register)_mm512_permutexvar_ps(_mm512_add_epi32(first, _mm512_set1_epi32(n)),
                                             (__m512)x.r[0])}};
#elif defined(__AVX2__)
    // Bit 3 of where a lane comes from is the register, the bits below it the place there.
    const __m256i from =
        _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(n));
    const auto is_second = (__m256)_mm256_slli_epi32(from, 28);
    const __m256 a = _mm256_permutevar8x32_ps((__m256)x.r[0], from);
    const __m256 b = _mm256_permutevar8x32_ps((__m256)x.r[1], from);
    return {
        {(Register)_mm256_blendv_ps(a, b, is_second), (Register)_mm256_blendv_ps(b, a, is_second)}};
#else
    Lanes quads;
    AG_EACH (i, kRegisters) quads.r[i] = x.r[(i + n / 4) % kRegisters];
    switch (n % 4) {
        case 1:
            return quads_across<1>(quads);
        case 2:
            return quads_across<2>(quads);
        case 3:
            return quads_across<3>(quads);
        default:
            return quads;
    }
#endif
}

// store_first() where what lies behind may be loaded soon, which would wait for a masked store:
// four elements or more are two stores that overlap.
#if defined(__AVX512F__)
AG_INLINE void store_row(float* p, Lanes x, int n) {
    if (n < 4) return store_first(p, x, n);
    x = canonical(x);
    const int half = n < 8 ? 4 : 8;
    const auto first = (__m512)x.r[0], last = (__m512)rotate(x, n - half).r[0];
    if (n < 8) {
        _mm_storeu_ps(p, _mm512_castps512_ps128(first));
        _mm_storeu_ps(p + n - 4, _mm512_castps512_ps128(last));
    } else {
        _mm256_storeu_ps(p, _mm512_castps512_ps256(first));
        _mm256_storeu_ps(p + n - 8, _mm512_castps512_ps256(last));
    }
}
template <class T>
AG_INLINE void store_row(T* p, Lanes x, int n) {
    if (n < 4) return store_first(p, x, n);
    const __m256i places = _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m256i bits = narrow(x, T{});
    const int half = n < 8 ? 4 : 8;
    const __m256i turned = _mm256_permutexvar_epi16(
        _mm256_add_epi16(places, _mm256_set1_epi16(static_cast<int16_t>(n - half))), bits);
    const __m128i first = _mm256_castsi256_si128(bits), last = _mm256_castsi256_si128(turned);
    if (n < 8) {
        _mm_storel_epi64(reinterpret_cast<__m128i*>(p), first);
        _mm_storel_epi64(reinterpret_cast<__m128i*>(p + n - 4), last);
    } else {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(p), first);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(p + n - 8), last);
    }
}
#else
template <class T>
AG_INLINE void store_row(T* p, Lanes x, int n) {
    store_first(p, x, n);
}
#endif

}  // namespace
}  // namespace ascend_grad
