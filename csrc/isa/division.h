// Division by an integer that many elements share, with the bits of x / d.
//
// high is the float next below 1 / d in magnitude and rest is 1 / d - high. x * high + x * rest,
// rounded once, is off by 2^-46 of the quotient before that rounding, and the quotient of a float
// and an integer below 2^19 is a float or 2^-44 away from where rounding changes. Infinities
// survive, as rest has the sign of high and is not 0. Only where x * rest may be subnormal are
// bits lost: tiny x must be divided.
#pragma once

#include <type_traits>

#include "isa/lanes.h"

namespace ascend_grad {
namespace {

struct Reciprocal {
    float high;
    float rest;
};

inline bool has_reciprocal([[maybe_unused]] float divisor) {
#if defined(__FMA__)
    return divisor != 0.0f && divisor > -524288.0f && divisor < 524288.0f;
#else
    return false;
#endif
}
inline Reciprocal reciprocal(float divisor) {
    const double exact = 1.0 / static_cast<double>(divisor);
    const double magnitude = exact < 0 ? -exact : exact;
    float high = static_cast<float>(magnitude);
    if (static_cast<double>(high) >= magnitude) high = float_from_bits(float_bits(high) - 1);
    const float rest = static_cast<float>(magnitude - static_cast<double>(high));
    return exact < 0 ? Reciprocal{-high, -rest} : Reciprocal{high, rest};
}

#if defined(__FMA__)
AG_INLINE Lanes multiply_add(Lanes x, Lanes y, Lanes z) {
    return each_register([&](int i) {
#if defined(__AVX512F__)
        return (Register)_mm512_fmadd_ps((__m512)x.r[i], (__m512)y.r[i], (__m512)z.r[i]);
#else
        return (Register)_mm256_fmadd_ps((__m256)x.r[i], (__m256)y.r[i], (__m256)z.r[i]);
#endif
    });
}
#endif

// +0 for -0, which a product that is added to +0 costs nothing. Only where has_reciprocal() is
// true.
AG_INLINE Lanes by_products(Lanes x, Lanes high, Lanes rest) {
#if defined(__FMA__)
    return multiply_add(x, high, multiply_add(x, rest, Lanes{}));
#else
    return x * (high + rest) + Lanes{};
#endif
}

// No float16 is.
template <class T>
constexpr bool kMayBeTiny = !std::is_same_v<T, Float16>;

// Whether a lane that was looked at is tiny but not 0: below 2^-64 in magnitude.
class TinyLanes {
  public:
    AG_INLINE void look_at(Lanes x) {
        least_ = each_register([&](int i) {
            const RegisterBits rank = ((RegisterBits)x.r[i] << 1) - 1u;
            const auto least = (RegisterBits)least_.r[i];
            return (Register)(rank < least ? rank : least);
        });
    }
#if defined(__AVX512F__)
    // Of 32 at once.
    AG_INLINE void look_at_bfloat16(__m512i bits) {
        const __m512i rank = _mm512_add_epi16(_mm512_add_epi16(bits, bits), _mm512_set1_epi16(-1));
        least_words_ = _mm512_min_epu16(least_words_, rank);
    }
#endif
    AG_INLINE bool found() const {
        constexpr uint32_t kBound = (127u - 64u) << 24;
#if defined(__AVX512F__)
        const auto bound = _mm512_set1_epi32(static_cast<int>(kBound));
        const auto word_bound = _mm512_set1_epi16(static_cast<int16_t>(kBound >> 16));
        return _mm512_cmplt_epu32_mask((__m512i)least_.r[0], bound) != 0 ||
               _mm512_cmplt_epu16_mask(least_words_, word_bound) != 0;
#else
        uint32_t ranks[kLanes];
        std::memcpy(ranks, &least_, sizeof(ranks));
        bool any = false;
        for (uint32_t rank : ranks) any |= rank < kBound;
        return any;
#endif
    }

  private:
    Lanes least_ = each_register([](int) { return (Register)~RegisterBits{}; });
#if defined(__AVX512F__)
    __m512i least_words_ = _mm512_set1_epi16(-1);
#endif
};
}  // namespace
}  // namespace ascend_grad
