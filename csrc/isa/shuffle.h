// Rearrangements: every second element, 4 x 4 blocks transposed, elements by their places.
#pragma once

#include <type_traits>

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

// The sixteen that start kBack before p, 0 <= kBack < 16. Where a vector is a cache line, shifting
// two is cheaper than a load across lines: p must be aligned.
template <int kBack>
AG_INLINE Lanes load_before(const float* p) {
#if defined(__AVX512F__)
    if constexpr (kBack > 0) {
        const __m512i at = _mm512_load_si512(p), before = _mm512_load_si512(p - kLanes);
        return {{(Register)_mm512_alignr_epi32(at, before, kLanes - kBack)}};
    }
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

// The bits of elements that fill a register.
template <class T>
struct Line {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>;
    typedef Bits Type __attribute__((vector_size(4 * kRegisterLanes)));
    static constexpr int kElements = 4 * kRegisterLanes / static_cast<int>(sizeof(T));
    static constexpr bool kLooksUp =
        kRegisterLanes == 16 || (kRegisterLanes == 8 && sizeof(T) == 4);

    static AG_INLINE Type of(T value) {
        Bits bits;
        std::memcpy(&bits, &value, sizeof(bits));
        return bits - Type{};
    }
    // Elements by their places: in `line`; in `first` or, from kElements on, in `second`.
#if defined(__AVX512F__)
    static AG_INLINE Type picked(Type places, Type line) {
        if constexpr (sizeof(T) == 2)
            return (Type)_mm512_permutexvar_epi16((__m512i)places, (__m512i)line);
        return (Type)_mm512_permutexvar_epi32((__m512i)places, (__m512i)line);
    }
    // The same, where a place of ones is 0.
    static AG_INLINE Type picked_or_none(Type places, Type line) {
        const auto p = (__m512i)places, x = (__m512i)line;
        if constexpr (sizeof(T) == 2)
            return (Type)_mm512_maskz_permutexvar_epi16(_knot_mask32(_mm512_movepi16_mask(p)), p,
                                                        x);
        return (Type)_mm512_maskz_permutexvar_epi32(_knot_mask16(_mm512_movepi32_mask(p)), p, x);
    }
    static AG_INLINE Type looked_up(Type places, Type first, Type second) {
        if constexpr (sizeof(T) == 2)
            return (Type)_mm512_permutex2var_epi16((__m512i)first, (__m512i)places,
                                                   (__m512i)second);
        return (Type)_mm512_permutex2var_epi32((__m512i)first, (__m512i)places, (__m512i)second);
    }
#elif defined(__AVX2__)
    static AG_INLINE Type picked(Type places, Type line) {
        return (Type)_mm256_permutevar8x32_epi32((__m256i)line, (__m256i)places);
    }
    static AG_INLINE Type picked_or_none(Type places, Type line) {
        const auto p = (__m256i)places;
        return (Type)_mm256_andnot_si256(_mm256_srai_epi32(p, 31), (__m256i)picked(places, line));
    }
    static AG_INLINE Type looked_up(Type places, Type first, Type second) {
        const __m256 a = (__m256)_mm256_permutevar8x32_epi32((__m256i)first, (__m256i)places);
        const __m256 b = (__m256)_mm256_permutevar8x32_epi32((__m256i)second, (__m256i)places);
        return (Type)_mm256_blendv_ps(a, b, (__m256)_mm256_slli_epi32((__m256i)places, 28));
    }
#endif
    static AG_INLINE Type load(const void* p) {
        Type line;
        std::memcpy(&line, p, sizeof(line));
        return line;
    }
};

// As many elements as can be picked from as many: those of a Line where the level has an
// instruction for it, else of 16 bytes.
template <class T>
struct PickedLine {
    typedef uint8_t Bytes __attribute__((vector_size(16)));
    static constexpr bool kIsLine = Line<T>::kLooksUp;
    using Type = std::conditional_t<kIsLine, typename Line<T>::Type, Bytes>;
    static constexpr int kElements = static_cast<int>(sizeof(Type) / sizeof(T));
    // Of so many elements picked_from() finds those of a line.
    static constexpr int kReach = kElements > 8 ? kElements : 8;

    // Element i is to be the one at `place`.
    static void set_place(Type& places, int i, int place) {
        constexpr int kSize = kIsLine ? 1 : static_cast<int>(sizeof(T));
        using Unit = std::conditional_t<kIsLine, typename Line<T>::Bits, uint8_t>;
        auto* units = reinterpret_cast<unsigned char*>(&places);
        for (int k = 0; k < kSize; ++k) {
            const auto unit = static_cast<Unit>(place * kSize + k);
            std::memcpy(units + sizeof(Unit) * static_cast<size_t>(i * kSize + k), &unit,
                        sizeof(unit));
        }
    }
    // Places of no element.
    static Type none() { return ~Type{}; }
    static AG_INLINE Type picked(const Type& places, const Type& line) {
        if constexpr (kIsLine) {
            return Line<T>::picked(places, line);
        } else {
#if defined(__SSSE3__)
            return (Type)_mm_shuffle_epi8((__m128i)line, (__m128i)places);
#elif defined(__aarch64__)
            return (Type)vqtbl1q_u8((uint8x16_t)line, (uint8x16_t)places);
#else
            typename Line<T>::Bits from[kElements], to[kElements];
            std::memcpy(from, &line, sizeof(from));
            AG_EACH (i, kElements)
                to[i] = from[places[i * static_cast<int>(sizeof(T))] / sizeof(T)];
            Type result;
            std::memcpy(&result, to, sizeof(result));
            return result;
#endif
        }
    }
    // The same of kReach elements from `from` on; 0 where there is no place.
    static AG_INLINE Type picked_from(const Type& places, const T* from) {
        if constexpr (kIsLine) {
            return Line<T>::picked_or_none(places, Line<T>::load(from));
        } else {
#if defined(__aarch64__)
            const auto* bytes = reinterpret_cast<const uint8_t*>(from);
            const uint8x16x2_t both = {{vld1q_u8(bytes), vld1q_u8(bytes + 16)}};
            return (Type)vqtbl2q_u8(both, (uint8x16_t)places);
#elif defined(__SSSE3__)
            static_assert(kReach == kElements);
            Type line;
            std::memcpy(&line, from, sizeof(line));
            return picked(places, line);
#else
            typename Line<T>::Bits to[kElements] = {};
            AG_EACH (i, kElements) {
                const int byte = places[i * static_cast<int>(sizeof(T))];
                if (byte != 0xff)
                    std::memcpy(&to[i], from + byte / static_cast<int>(sizeof(T)), sizeof(T));
            }
            Type result;
            std::memcpy(&result, to, sizeof(result));
            return result;
#endif
        }
    }
};

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
