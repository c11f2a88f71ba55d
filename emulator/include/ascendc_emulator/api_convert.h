// Cast, Compare, CompareScalar, Select.
#pragma once

#include "ascendc_emulator/api_elementwise.h"

namespace AscendC {
inline namespace ASCENDC_EMULATOR_ABI {

template <typename D, typename S, typename D2, typename S2>
constexpr bool is_pair = std::is_same_v<D, D2>&& std::is_same_v<S, S2>;

// dst, src pairs with a vector conversion. Which rounding modes a pair takes is checked at run
// time.
template <typename D, typename S>
constexpr bool has_cast =
    is_pair<D, S, half, int8_t> || is_pair<D, S, half, uint8_t> || is_pair<D, S, int8_t, half> ||
    is_pair<D, S, uint8_t, half> || is_pair<D, S, int32_t, half> || is_pair<D, S, float, half> ||
    is_pair<D, S, float, int32_t> || is_pair<D, S, half, float> || is_pair<D, S, int32_t, float> ||
    (!on_910 && (is_pair<D, S, half, int16_t> || is_pair<D, S, int16_t, half> ||
                 is_pair<D, S, int16_t, int32_t> || is_pair<D, S, half, int32_t>)) ||
    (on_910b && (is_pair<D, S, float, int16_t> || is_pair<D, S, int16_t, float> ||
                 is_pair<D, S, int32_t, bfloat16_t> || is_pair<D, S, float, bfloat16_t> ||
                 is_pair<D, S, bfloat16_t, float> || is_pair<D, S, float, float> ||
                 is_pair<D, S, int64_t, float> || is_pair<D, S, float, int64_t> ||
                 is_pair<D, S, int64_t, int32_t> || is_pair<D, S, int32_t, int64_t>));

template <typename D, typename S, bool isSetMask = true>
void Cast(const LocalTensor<D>& dst, const LocalTensor<S>& src, const RoundMode& mode,
          const uint64_t mask[], uint8_t repeat, const UnaryRepeatParams& params,
          rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE((has_cast<D, S>), "Cast");
    auto call = unary_call("Cast", rt::Op::copy, dst, src);
    set_form(call, bit_mask(mask, isSetMask), repeat, params);
    rt::cast(call, mode, loc);
}
template <typename D, typename S, bool isSetMask = true>
void Cast(const LocalTensor<D>& dst, const LocalTensor<S>& src, const RoundMode& mode,
          uint64_t mask, uint8_t repeat, const UnaryRepeatParams& params,
          rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE((has_cast<D, S>), "Cast");
    auto call = unary_call("Cast", rt::Op::copy, dst, src);
    set_form(call, count_mask(mask, isSetMask), repeat, params);
    rt::cast(call, mode, loc);
}
template <typename D, typename S>
void Cast(const LocalTensor<D>& dst, const LocalTensor<S>& src, const RoundMode& mode,
          uint32_t count, rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE((has_cast<D, S>), "Cast");
    auto call = unary_call("Cast", rt::Op::copy, dst, src);
    set_count(call, count);
    rt::cast(call, mode, loc);
}
// Conversion on the scalar unit, with the rounding modes that it has.
template <typename S, typename D, RoundMode mode>
constexpr bool has_scalar_cast =
    !on_910 && std::is_same_v<S, float> &&
    (std::is_same_v<D, half> ? mode == RoundMode::CAST_ODD
                             : std::is_same_v<D, int32_t> && mode >= RoundMode::CAST_RINT &&
                                   mode <= RoundMode::CAST_ROUND);
template <typename S, typename D, RoundMode mode>
D ScalarCast(S value, rt::Loc loc = rt::Loc::here()) {
    static_assert(has_scalar_cast<S, D, mode>,
                  "AscendC::ScalarCast does not exist for these types and this mode on "  //
                  ASCENDC_EMULATOR_SOC_NAME);
    D result;
    rt::scalar_cast(rt::dtype_of<D>(), rt::dtype_of<S>(), mode, &value, &result, loc);
    return result;
}

#if __CCE_AICORE__ == 220
inline float ToFloat(const bfloat16_t& value) {
    return value;
}
inline bfloat16_t ToBfloat16(const float& value) {
    return value;
}
#endif

#if __CCE_AICORE__ >= 200
inline void SetDeqScale(half scale) {
    rt::set_deq_scale(scale);
}
#endif

template <typename T>
constexpr bool has_compare = is_floating<T> || (on_910b && one_of<T, int32_t>);
template <typename U>
constexpr bool is_mask_byte = one_of<U, uint8_t, int8_t>;

template <typename T, typename U, bool isSetMask = true>
void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
             CMPMODE mode, const uint64_t mask[], uint8_t repeat, const BinaryRepeatParams& params,
             rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(has_compare<T> && is_mask_byte<U>, "Compare");
    auto call = binary_call("Compare", rt::Op::copy, dst, src0, src1);
    set_form(call, bit_mask(mask, isSetMask), repeat, params);
    rt::compare(call, mode, false, false, loc);
}
template <typename T, typename U, bool isSetMask = true>
void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
             CMPMODE mode, uint64_t mask, uint8_t repeat, const BinaryRepeatParams& params,
             rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(has_compare<T> && is_mask_byte<U>, "Compare");
    auto call = binary_call("Compare", rt::Op::copy, dst, src0, src1);
    set_form(call, count_mask(mask, isSetMask), repeat, params);
    rt::compare(call, mode, false, false, loc);
}
template <typename T, typename U>
void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
             CMPMODE mode, uint32_t count, rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(has_compare<T> && is_mask_byte<U>, "Compare");
    auto call = binary_call("Compare", rt::Op::copy, dst, src0, src1);
    set_count(call, count);
    rt::compare(call, mode, false, false, loc);
}
// One repeat; the result goes to the compare-mask register that Select mode 0 reads.
template <typename T, bool isSetMask = true>
void Compare(const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE mode,
             const uint64_t mask[], const BinaryRepeatParams& params,
             rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(has_compare<T>, "Compare");
    auto call = binary_call("Compare", rt::Op::copy, src0, src0, src1);
    set_form(call, bit_mask(mask, isSetMask), 1, params);
    rt::compare(call, mode, false, true, loc);
}
template <typename T, bool isSetMask = true>
void Compare(const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE mode, uint64_t mask,
             const BinaryRepeatParams& params, rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(has_compare<T>, "Compare");
    auto call = binary_call("Compare", rt::Op::copy, src0, src0, src1);
    set_form(call, count_mask(mask, isSetMask), 1, params);
    rt::compare(call, mode, false, true, loc);
}
template <typename T>
void GetCmpMask(const LocalTensor<T>& dst, rt::Loc loc = rt::Loc::here()) {
    static_assert(!on_910 || dependent_false<T>,
                  "AscendC::GetCmpMask does not exist on " ASCENDC_EMULATOR_SOC_NAME);
    rt::move_compare_mask(dst.ub, false, loc);
}
template <typename T>
void SetCmpMask(const LocalTensor<T>& src, rt::Loc loc = rt::Loc::here()) {
    rt::move_compare_mask(src.ub, true, loc);
}

template <typename T, typename U>
constexpr bool has_compare_scalar = !on_910 && has_compare<T> && std::is_same_v<U, uint8_t>;
template <typename T, typename U, bool isSetMask = true>
void CompareScalar(const LocalTensor<U>& dst, const LocalTensor<T>& src, const T scalar,
                   CMPMODE mode, const uint64_t mask[], uint8_t repeat,
                   const UnaryRepeatParams& params, rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE((has_compare_scalar<T, U>), "CompareScalar");
    auto call = unary_call("CompareScalar", rt::Op::copy, dst, src);
    set_scalar(call, scalar);
    set_form(call, bit_mask(mask, isSetMask), repeat, params);
    rt::compare(call, mode, true, false, loc);
}
template <typename T, typename U, bool isSetMask = true>
void CompareScalar(const LocalTensor<U>& dst, const LocalTensor<T>& src, const T scalar,
                   CMPMODE mode, uint64_t mask, uint8_t repeat, const UnaryRepeatParams& params,
                   rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE((has_compare_scalar<T, U>), "CompareScalar");
    auto call = unary_call("CompareScalar", rt::Op::copy, dst, src);
    set_scalar(call, scalar);
    set_form(call, count_mask(mask, isSetMask), repeat, params);
    rt::compare(call, mode, true, false, loc);
}
template <typename T, typename U>
void CompareScalar(const LocalTensor<U>& dst, const LocalTensor<T>& src, const T scalar,
                   CMPMODE mode, uint32_t count, rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE((has_compare_scalar<T, U>), "CompareScalar");
    auto call = unary_call("CompareScalar", rt::Op::copy, dst, src);
    set_scalar(call, scalar);
    set_count(call, count);
    rt::compare(call, mode, true, false, loc);
}

template <typename U>
constexpr bool is_select_mask = one_of<U, uint8_t, uint16_t, uint32_t, uint64_t>;

template <typename T, typename U, bool isSetMask = true>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
            const LocalTensor<T>& src1, SELMODE mode, uint64_t mask[], uint8_t repeat,
            const BinaryRepeatParams& params, rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(is_floating<T> && is_select_mask<U>, "Select");
    auto call = binary_call("Select", rt::Op::copy, dst, src0, src1);
    set_form(call, bit_mask(mask, isSetMask), repeat, params);
    rt::select(call, selMask.ub, mode, false, loc);
}
template <typename T, typename U, bool isSetMask = true>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
            const LocalTensor<T>& src1, SELMODE mode, uint64_t mask, uint8_t repeat,
            const BinaryRepeatParams& params, rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(is_floating<T> && is_select_mask<U>, "Select");
    auto call = binary_call("Select", rt::Op::copy, dst, src0, src1);
    set_form(call, count_mask(mask, isSetMask), repeat, params);
    rt::select(call, selMask.ub, mode, false, loc);
}
template <typename T, typename U>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
            const LocalTensor<T>& src1, SELMODE mode, uint32_t count,
            rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(is_floating<T> && is_select_mask<U>, "Select");
    auto call = binary_call("Select", rt::Op::copy, dst, src0, src1);
    set_count(call, count);
    rt::select(call, selMask.ub, mode, false, loc);
}
template <typename T, typename U, bool isSetMask = true>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
            T src1, SELMODE mode, uint64_t mask[], uint8_t repeat, const BinaryRepeatParams& params,
            rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(!on_910 && is_floating<T> && is_select_mask<U>, "Select");
    auto call = unary_call("Select", rt::Op::copy, dst, src0);
    set_scalar(call, src1);
    set_form(call, bit_mask(mask, isSetMask), repeat, params);
    rt::select(call, selMask.ub, mode, true, loc);
}
template <typename T, typename U, bool isSetMask = true>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
            T src1, SELMODE mode, uint64_t mask, uint8_t repeat, const BinaryRepeatParams& params,
            rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(!on_910 && is_floating<T> && is_select_mask<U>, "Select");
    auto call = unary_call("Select", rt::Op::copy, dst, src0);
    set_scalar(call, src1);
    set_form(call, count_mask(mask, isSetMask), repeat, params);
    rt::select(call, selMask.ub, mode, true, loc);
}
template <typename T, typename U>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
            T src1, SELMODE mode, uint32_t count, rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(!on_910 && is_floating<T> && is_select_mask<U>, "Select");
    auto call = unary_call("Select", rt::Op::copy, dst, src0);
    set_scalar(call, src1);
    set_count(call, count);
    rt::select(call, selMask.ub, mode, true, loc);
}
// Tensor-tensor by the compare-mask register.
template <typename T, SELMODE mode>
void Select(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
            uint8_t repeat, const BinaryRepeatParams& params, rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(is_floating<T>, "Select");
    static_assert(mode == SELMODE::VSEL_CMPMASK_SPR,
                  "the register form of AscendC::Select is emulated for VSEL_CMPMASK_SPR only");
    auto call = binary_call("Select", rt::Op::copy, dst, src0, src1);
    set_form(call, {rt::Mask::kRegister, 0, 0}, repeat, params);
    rt::select_by_register(call, loc);
}

// dst = a < b and its kin: one bit per element of a, over all of it.
template <typename T>
void LocalTensor<T>::operator=(Assigned<SymbolCompare<float>> assigned) {
    const auto& e = assigned.expression;
    Compare(*this, e.a, e.b, e.mode, e.a.GetSize(), assigned.loc);
}
template <typename T>
void LocalTensor<T>::operator=(Assigned<SymbolCompare<half>> assigned) {
    const auto& e = assigned.expression;
    Compare(*this, e.a, e.b, e.mode, e.a.GetSize(), assigned.loc);
}

}  // namespace ASCENDC_EMULATOR_ABI
}  // namespace AscendC
