// Scalar float16 and bfloat16: conversion from and to float, to nearest even. A NaN becomes the
// canonical quiet NaN, so that results do not depend on which NaN an instruction set makes.
#pragma once

#include <cstdint>
#include <cstring>

namespace ascend_grad {

struct Float16 {
    uint16_t bits;
};
struct BFloat16 {
    uint16_t bits;
};

// Internal linkage on purpose: these are compiled into every instruction set level.
namespace {

inline constexpr uint32_t kCanonicalNan = 0x7fc00000u;

inline uint32_t float_bits(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
}

inline float float_from_bits(uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}

inline float canonical(float value) {
    return value == value ? value : float_from_bits(kCanonicalNan);
}

inline float to_float(float value) {
    return value;
}
inline float to_float(BFloat16 value) {
    return float_from_bits(static_cast<uint32_t>(value.bits) << 16);
}
inline float to_float(Float16 value) {
    const uint32_t sign = static_cast<uint32_t>(value.bits & 0x8000u) << 16;
    const uint32_t magnitude = value.bits & 0x7fffu;
    if (magnitude >= 0x7c00u)
        return float_from_bits(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
    // Subnormals are counted, so that a thread that flushes subnormal floats reads them, too.
    if (magnitude < 0x400u)
        return float_from_bits(sign | float_bits(static_cast<float>(magnitude) * 0x1p-24f));
    return float_from_bits(sign | ((magnitude << 13) + 0x38000000u));
}

inline void from_float(float value, float& result) {
    result = canonical(value);
}
inline void from_float(float value, double& result) {
    result = canonical(value);
}
inline void from_float(float value, BFloat16& result) {
    const uint32_t bits = float_bits(canonical(value));
    result.bits = static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
inline void from_float(float value, Float16& result) {
    const uint32_t bits = float_bits(canonical(value));
    const uint32_t sign = bits >> 16 & 0x8000u;
    const uint32_t magnitude = bits & 0x7fffffffu;
    uint32_t half;
    if (magnitude > 0x7f800000u) {
        half = 0x7e00u;
    } else if (magnitude >= 0x477ff000u) {  // 65520 and more
        half = 0x7c00u;
    } else if (magnitude <
               0x38800000u) {  // below 2^-14: let an addition align and round the significand
        const float aligned = float_from_bits(magnitude) + 0.5f;
        half = float_bits(aligned) - float_bits(0.5f);
    } else {
        half = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
    }
    result.bits = static_cast<uint16_t>(sign | half);
}

}  // namespace
}  // namespace ascend_grad
