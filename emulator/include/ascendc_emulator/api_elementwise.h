// Elementwise vector instructions in their three call forms.
#pragma once

#include "ascendc_emulator/calls.h"

namespace AscendC {
inline namespace ASCENDC_EMULATOR_ABI {

// dst = src0 (op) src1; `allowed` says for which T the product has the instruction.
#define ASCENDC_EMULATOR_BINARY(Name, op, allowed)                                               \
    template <typename T, bool isSetMask = true>                                                 \
    void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, \
              uint64_t mask[], uint8_t repeat, const BinaryRepeatParams& params,                 \
              rt::Loc loc = rt::Loc::here()) {                                                   \
        ASCENDC_EMULATOR_REQUIRE((allowed), #Name);                                              \
        auto call = binary_call(#Name, rt::Op::op, dst, src0, src1);                             \
        set_form(call, bit_mask(mask, isSetMask), repeat, params);                               \
        rt::elementwise(call, loc);                                                              \
    }                                                                                            \
    template <typename T, bool isSetMask = true>                                                 \
    void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, \
              uint64_t mask, uint8_t repeat, const BinaryRepeatParams& params,                   \
              rt::Loc loc = rt::Loc::here()) {                                                   \
        ASCENDC_EMULATOR_REQUIRE((allowed), #Name);                                              \
        auto call = binary_call(#Name, rt::Op::op, dst, src0, src1);                             \
        set_form(call, count_mask(mask, isSetMask), repeat, params);                             \
        rt::elementwise(call, loc);                                                              \
    }                                                                                            \
    template <typename T>                                                                        \
    void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, \
              const int32_t& count, rt::Loc loc = rt::Loc::here()) {                             \
        ASCENDC_EMULATOR_REQUIRE((allowed), #Name);                                              \
        auto call = binary_call(#Name, rt::Op::op, dst, src0, src1);                             \
        set_count(call, count);                                                                  \
        rt::elementwise(call, loc);                                                              \
    }

// clang-format off
template <typename T>
constexpr bool has_arithmetic = is_floating<T> || one_of<T, int32_t> || (!on_910 && one_of<T, int16_t>);
template <typename T>
constexpr bool has_fused = !on_910 && is_floating<T>;
template <typename T>
constexpr bool has_relu_pair = !on_910 && (is_floating<T> || one_of<T, int16_t>);
template <typename T>
constexpr bool has_bitwise = one_of<T, int16_t, uint16_t> || (on_910b && one_of<T, int32_t, uint32_t>);
ASCENDC_EMULATOR_BINARY(Add, add, has_arithmetic<T>)
ASCENDC_EMULATOR_BINARY(Sub, sub, has_arithmetic<T>)
ASCENDC_EMULATOR_BINARY(Mul, mul, has_arithmetic<T>)
ASCENDC_EMULATOR_BINARY(Div, div, is_floating<T>)
ASCENDC_EMULATOR_BINARY(Max, max, has_arithmetic<T>)
ASCENDC_EMULATOR_BINARY(Min, min, has_arithmetic<T>)
ASCENDC_EMULATOR_BINARY(And, and_, has_bitwise<T>)
ASCENDC_EMULATOR_BINARY(Or, or_, has_bitwise<T>)
ASCENDC_EMULATOR_BINARY(AddRelu, add_relu, has_relu_pair<T>)
ASCENDC_EMULATOR_BINARY(SubRelu, sub_relu, has_relu_pair<T>)
ASCENDC_EMULATOR_BINARY(FusedMulAdd, fused_mul_add, has_fused<T>)
ASCENDC_EMULATOR_BINARY(FusedMulAddRelu, fused_mul_add_relu, has_fused<T>)
// clang-format on
#undef ASCENDC_EMULATOR_BINARY

// dst = f(src).
#define ASCENDC_EMULATOR_UNARY(Name, op, allowed)                                                  \
    template <typename T, bool isSetMask = true>                                                   \
    void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t mask[],               \
              uint8_t repeat, const UnaryRepeatParams& params, rt::Loc loc = rt::Loc::here()) {    \
        ASCENDC_EMULATOR_REQUIRE((allowed), #Name);                                                \
        auto call = unary_call(#Name, rt::Op::op, dst, src);                                       \
        set_form(call, bit_mask(mask, isSetMask), repeat, params);                                 \
        rt::elementwise(call, loc);                                                                \
    }                                                                                              \
    template <typename T, bool isSetMask = true>                                                   \
    void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t mask, uint8_t repeat, \
              const UnaryRepeatParams& params, rt::Loc loc = rt::Loc::here()) {                    \
        ASCENDC_EMULATOR_REQUIRE((allowed), #Name);                                                \
        auto call = unary_call(#Name, rt::Op::op, dst, src);                                       \
        set_form(call, count_mask(mask, isSetMask), repeat, params);                               \
        rt::elementwise(call, loc);                                                                \
    }                                                                                              \
    template <typename T>                                                                          \
    void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t& count,          \
              rt::Loc loc = rt::Loc::here()) {                                                     \
        ASCENDC_EMULATOR_REQUIRE((allowed), #Name);                                                \
        auto call = unary_call(#Name, rt::Op::op, dst, src);                                       \
        set_count(call, count);                                                                    \
        rt::elementwise(call, loc);                                                                \
    }

ASCENDC_EMULATOR_UNARY(Exp, exp, is_floating<T>)
ASCENDC_EMULATOR_UNARY(Ln, ln, is_floating<T>)
ASCENDC_EMULATOR_UNARY(Abs, abs, is_floating<T>)
ASCENDC_EMULATOR_UNARY(Reciprocal, reciprocal, is_floating<T>)
ASCENDC_EMULATOR_UNARY(Sqrt, sqrt, is_floating<T>)
ASCENDC_EMULATOR_UNARY(Rsqrt, rsqrt, is_floating<T>)
ASCENDC_EMULATOR_UNARY(Relu, relu, (is_floating<T> || (!on_910 && one_of<T, int32_t>)))
ASCENDC_EMULATOR_UNARY(Not, not_, (one_of<T, int16_t, uint16_t>))
#undef ASCENDC_EMULATOR_UNARY

// dst = src (op) scalar.
#define ASCENDC_EMULATOR_SCALAR(Name, op, allowed)                                   \
    template <typename T, bool isSetMask = true>                                     \
    void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalar, \
              uint64_t mask[], uint8_t repeat, const UnaryRepeatParams& params,      \
              rt::Loc loc = rt::Loc::here()) {                                       \
        ASCENDC_EMULATOR_REQUIRE((allowed), #Name);                                  \
        auto call = unary_call(#Name, rt::Op::op, dst, src);                         \
        set_scalar(call, scalar);                                                    \
        set_form(call, bit_mask(mask, isSetMask), repeat, params);                   \
        rt::elementwise(call, loc);                                                  \
    }                                                                                \
    template <typename T, bool isSetMask = true>                                     \
    void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalar, \
              uint64_t mask, uint8_t repeat, const UnaryRepeatParams& params,        \
              rt::Loc loc = rt::Loc::here()) {                                       \
        ASCENDC_EMULATOR_REQUIRE((allowed), #Name);                                  \
        auto call = unary_call(#Name, rt::Op::op, dst, src);                         \
        set_scalar(call, scalar);                                                    \
        set_form(call, count_mask(mask, isSetMask), repeat, params);                 \
        rt::elementwise(call, loc);                                                  \
    }                                                                                \
    template <typename T, bool isSetMask = true>                                     \
    void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalar, \
              const int32_t& count, rt::Loc loc = rt::Loc::here()) {                 \
        ASCENDC_EMULATOR_REQUIRE((allowed), #Name);                                  \
        auto call = unary_call(#Name, rt::Op::op, dst, src);                         \
        set_scalar(call, scalar);                                                    \
        set_count(call, count);                                                      \
        rt::elementwise(call, loc);                                                  \
    }

// clang-format off
template <typename T>
constexpr bool has_scalar_arithmetic = is_floating<T> || (!on_910 && one_of<T, int16_t, int32_t>);
template <typename T>
constexpr bool has_shift = on_910b && one_of<T, int16_t, uint16_t, int32_t, uint32_t>;
ASCENDC_EMULATOR_SCALAR(Adds, adds, has_scalar_arithmetic<T>)
ASCENDC_EMULATOR_SCALAR(Muls, muls, has_scalar_arithmetic<T>)
ASCENDC_EMULATOR_SCALAR(Maxs, maxs, !on_910 && has_scalar_arithmetic<T>)
ASCENDC_EMULATOR_SCALAR(Mins, mins, !on_910 && has_scalar_arithmetic<T>)
ASCENDC_EMULATOR_SCALAR(LeakyRelu, leaky_relu, !on_910 && is_floating<T>)
ASCENDC_EMULATOR_SCALAR(ShiftLeft, shift_left, has_shift<T>)
// clang-format on
#undef ASCENDC_EMULATOR_SCALAR

template <typename T, bool isSetMask = true>
void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalar,
                uint64_t mask[], uint8_t repeat, const UnaryRepeatParams& params,
                bool roundEn = false, rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(has_shift<T>, "ShiftRight");
    auto call = unary_call("ShiftRight", rt::Op::shift_right, dst, src);
    set_scalar(call, scalar);
    call.flag = roundEn;
    set_form(call, bit_mask(mask, isSetMask), repeat, params);
    rt::elementwise(call, loc);
}
template <typename T, bool isSetMask = true>
void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalar,
                uint64_t mask, uint8_t repeat, const UnaryRepeatParams& params,
                bool roundEn = false, rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(has_shift<T>, "ShiftRight");
    auto call = unary_call("ShiftRight", rt::Op::shift_right, dst, src);
    set_scalar(call, scalar);
    call.flag = roundEn;
    set_form(call, count_mask(mask, isSetMask), repeat, params);
    rt::elementwise(call, loc);
}
template <typename T, bool isSetMask = true>
void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalar,
                const int32_t& count, rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(has_shift<T>, "ShiftRight");
    auto call = unary_call("ShiftRight", rt::Op::shift_right, dst, src);
    set_scalar(call, scalar);
    set_count(call, count);
    rt::elementwise(call, loc);
}

// Destination and sources of possibly different width: MulAddDst, Axpy.
template <typename T, typename U>
constexpr bool has_mixed = (is_floating<T> && std::is_same_v<T, U>) ||
                           (std::is_same_v<T, float> && std::is_same_v<U, half>);
#define ASCENDC_EMULATOR_MIXED(Name, op, allowed)                                                \
    template <typename T, typename U, bool isSetMask = true>                                     \
    void Name(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1, \
              const uint64_t mask[], uint8_t repeat, const BinaryRepeatParams& params,           \
              rt::Loc loc = rt::Loc::here()) {                                                   \
        ASCENDC_EMULATOR_REQUIRE((allowed), #Name);                                              \
        auto call = binary_call(#Name, rt::Op::op, dst, src0, src1);                             \
        set_form(call, bit_mask(mask, isSetMask), repeat, params);                               \
        rt::elementwise(call, loc);                                                              \
    }                                                                                            \
    template <typename T, typename U, bool isSetMask = true>                                     \
    void Name(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1, \
              uint64_t mask, uint8_t repeat, const BinaryRepeatParams& params,                   \
              rt::Loc loc = rt::Loc::here()) {                                                   \
        ASCENDC_EMULATOR_REQUIRE((allowed), #Name);                                              \
        auto call = binary_call(#Name, rt::Op::op, dst, src0, src1);                             \
        set_form(call, count_mask(mask, isSetMask), repeat, params);                             \
        rt::elementwise(call, loc);                                                              \
    }                                                                                            \
    template <typename T, typename U>                                                            \
    void Name(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1, \
              const int32_t& count, rt::Loc loc = rt::Loc::here()) {                             \
        ASCENDC_EMULATOR_REQUIRE((allowed), #Name);                                              \
        auto call = binary_call(#Name, rt::Op::op, dst, src0, src1);                             \
        set_count(call, count);                                                                  \
        rt::elementwise(call, loc);                                                              \
    }
ASCENDC_EMULATOR_MIXED(MulAddDst, mul_add_dst, (!on_910 && has_mixed<T, U>))
#undef ASCENDC_EMULATOR_MIXED

template <typename T, typename U, bool isSetMask = true>
void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalar, uint64_t mask[],
          uint8_t repeat, const UnaryRepeatParams& params, rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE((has_mixed<T, U>), "Axpy");
    auto call = unary_call("Axpy", rt::Op::axpy, dst, src);
    set_scalar(call, scalar);
    set_form(call, bit_mask(mask, isSetMask), repeat, params);
    rt::elementwise(call, loc);
}
template <typename T, typename U, bool isSetMask = true>
void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalar, uint64_t mask,
          uint8_t repeat, const UnaryRepeatParams& params, rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE((has_mixed<T, U>), "Axpy");
    auto call = unary_call("Axpy", rt::Op::axpy, dst, src);
    set_scalar(call, scalar);
    set_form(call, count_mask(mask, isSetMask), repeat, params);
    rt::elementwise(call, loc);
}
template <typename T, typename U>
void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalar,
          const int32_t& count, rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE((has_mixed<T, U>), "Axpy");
    auto call = unary_call("Axpy", rt::Op::axpy, dst, src);
    set_scalar(call, scalar);
    set_count(call, count);
    rt::elementwise(call, loc);
}

// clang-format off
template <typename T>
constexpr bool has_duplicate = one_of<T, half, float, int16_t, uint16_t, int32_t, uint32_t> ||
                               (on_910b && one_of<T, bfloat16_t>);
// clang-format on
template <typename T>
rt::VectorCall duplicate_call(const LocalTensor<T>& dst, const T& scalar) {
    ASCENDC_EMULATOR_REQUIRE(has_duplicate<T>, "Duplicate");
    rt::VectorCall call;
    call.name = "Duplicate";
    call.op = rt::Op::duplicate;
    call.dst.tensor = dst.ub;
    set_scalar(call, scalar);
    return call;
}
template <typename T, bool isSetMask = true>
void Duplicate(const LocalTensor<T>& dst, const T& scalar, uint64_t mask, uint8_t repeat,
               uint16_t dstBlkStride, uint8_t dstRepStride, rt::Loc loc = rt::Loc::here()) {
    auto call = duplicate_call(dst, scalar);
    set_form(call, count_mask(mask, isSetMask), repeat, {dstBlkStride, 1, dstRepStride, 8});
    rt::elementwise(call, loc);
}
template <typename T, bool isSetMask = true>
void Duplicate(const LocalTensor<T>& dst, const T& scalar, uint64_t mask[], uint8_t repeat,
               uint16_t dstBlkStride, uint8_t dstRepStride, rt::Loc loc = rt::Loc::here()) {
    auto call = duplicate_call(dst, scalar);
    set_form(call, bit_mask(mask, isSetMask), repeat, {dstBlkStride, 1, dstRepStride, 8});
    rt::elementwise(call, loc);
}
template <typename T>
void Duplicate(const LocalTensor<T>& dst, const T& scalar, const int32_t& count,
               rt::Loc loc = rt::Loc::here()) {
    auto call = duplicate_call(dst, scalar);
    set_count(call, count);
    rt::elementwise(call, loc);
}

template <typename T>
void LocalTensor<T>::operator=(Assigned<SymbolExpression<T>> assigned) {
    const auto& e = assigned.expression;
    const int32_t n = static_cast<int32_t>(GetSize());
    if (e.op == SymbolOp::add) Add(*this, e.a, e.b, n, assigned.loc);
    if (e.op == SymbolOp::sub) Sub(*this, e.a, e.b, n, assigned.loc);
    if (e.op == SymbolOp::mul) Mul(*this, e.a, e.b, n, assigned.loc);
    if constexpr (is_floating<T>) {
        if (e.op == SymbolOp::div) Div(*this, e.a, e.b, n, assigned.loc);
    }
    if constexpr (has_bitwise<T>) {
        if (e.op == SymbolOp::or_) Or(*this, e.a, e.b, n, assigned.loc);
        if (e.op == SymbolOp::and_) And(*this, e.a, e.b, n, assigned.loc);
    }
}

}  // namespace ASCENDC_EMULATOR_ABI
}  // namespace AscendC
