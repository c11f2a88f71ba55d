// Scalar types half (IEEE binary16) and bfloat16_t with exact conversions.
// Storage only: arithmetic happens in float after the implicit conversion, as on any CPU without
// them.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

// Conversions of constants happen at compile time where the compiler can.
#if defined(__has_builtin)
#if __has_builtin(__builtin_bit_cast)
#define ASCENDC_EMULATOR_BIT_CAST 1
#endif
#endif
#ifdef ASCENDC_EMULATOR_BIT_CAST
#define ASCENDC_EMULATOR_CONSTEXPR constexpr
#define ASCENDC_EMULATOR_MEMBER constexpr
#else
#define ASCENDC_EMULATOR_CONSTEXPR inline
#define ASCENDC_EMULATOR_MEMBER
#endif

namespace ascendc_emulator {

ASCENDC_EMULATOR_CONSTEXPR uint32_t float_bits(float value) {
#ifdef ASCENDC_EMULATOR_BIT_CAST
    return __builtin_bit_cast(uint32_t, value);
#else
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
#endif
}

ASCENDC_EMULATOR_CONSTEXPR float float_from_bits(uint32_t bits) {
#ifdef ASCENDC_EMULATOR_BIT_CAST
    return __builtin_bit_cast(float, bits);
#else
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
#endif
}

// Exact. NaN payloads keep their upper bits.
ASCENDC_EMULATOR_CONSTEXPR float half_bits_to_float(uint16_t h) {
    const uint32_t sign = uint32_t(h & 0x8000u) << 16;
    const uint32_t magnitude = h & 0x7fffu;
    if (magnitude >= 0x7c00u) return float_from_bits(sign | 0x7f800000u | (magnitude << 13));
    if (magnitude >= 0x0400u) return float_from_bits(sign | ((magnitude << 13) + 0x38000000u));
    return float_from_bits(sign | float_bits(float(magnitude) * 0x1p-24f));
}

// Round to nearest, ties to even; overflow gives infinity.
ASCENDC_EMULATOR_CONSTEXPR uint16_t float_to_half_bits(float value) {
    const uint32_t bits = float_bits(value);
    const uint16_t sign = uint16_t((bits >> 16) & 0x8000u);
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return uint16_t(sign | 0x7e00u | ((magnitude >> 13) & 0x1ffu));
    if (magnitude >= 0x477ff000u) return uint16_t(sign | 0x7c00u);
    if (magnitude >= 0x38800000u) {
        const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
        return uint16_t(sign | ((rounded - 0x38000000u) >> 13));
    }
    // Adding 0.5 aligns the subnormal's unit with the last bit of the sum, which the FPU rounds.
    const float aligned = float_from_bits(magnitude) + 0.5f;
    return uint16_t(sign | (float_bits(aligned) - 0x3f000000u));
}

ASCENDC_EMULATOR_CONSTEXPR float bfloat16_bits_to_float(uint16_t b) {
    return float_from_bits(uint32_t(b) << 16);
}

// Round to nearest, ties to even.
ASCENDC_EMULATOR_CONSTEXPR uint16_t float_to_bfloat16_bits(float value) {
    const uint32_t bits = float_bits(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return uint16_t((bits >> 16) | 0x40u);
    return uint16_t((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace ascendc_emulator

struct half {
    uint16_t bits;

    half() = default;
    template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
    ASCENDC_EMULATOR_MEMBER half(T value)
        : bits(ascendc_emulator::float_to_half_bits(static_cast<float>(value))) {}
    ASCENDC_EMULATOR_MEMBER operator float() const {
        return ascendc_emulator::half_bits_to_float(bits);
    }
    static half from_bits(uint16_t raw) {
        half h;
        h.bits = raw;
        return h;
    }
    half& operator+=(float v) { return *this = half(float(*this) + v); }
    half& operator-=(float v) { return *this = half(float(*this) - v); }
    half& operator*=(float v) { return *this = half(float(*this) * v); }
    half& operator/=(float v) { return *this = half(float(*this) / v); }
};

struct bfloat16_t {
    uint16_t bits;

    bfloat16_t() = default;
    template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
    ASCENDC_EMULATOR_MEMBER bfloat16_t(T value)
        : bits(ascendc_emulator::float_to_bfloat16_bits(static_cast<float>(value))) {}
    ASCENDC_EMULATOR_MEMBER operator float() const {
        return ascendc_emulator::bfloat16_bits_to_float(bits);
    }
    static bfloat16_t from_bits(uint16_t raw) {
        bfloat16_t b;
        b.bits = raw;
        return b;
    }
};
static_assert(sizeof(half) == 2 && std::is_trivially_copyable_v<half>);
static_assert(sizeof(bfloat16_t) == 2 && std::is_trivially_copyable_v<bfloat16_t>);

using float16_t = half;
using float32_t = float;
