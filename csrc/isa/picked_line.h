// Elements by their places in a register.
#pragma once

#include <type_traits>

#include "isa/pair.h"

namespace ascend_grad {
namespace {

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

}  // namespace
}  // namespace ascend_grad
