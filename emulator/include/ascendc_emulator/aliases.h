// Spellings of CANN 9.x that only rename what 8.1 has, and small utilities kernels include by
// habit.
#pragma once

#include "ascendc_emulator/api_convert.h"
#include "ascendc_emulator/api_copy.h"
#include "ascendc_emulator/api_reduce.h"
#include "ascendc_emulator/api_sync.h"

namespace AscendC {
inline namespace ASCENDC_EMULATOR_ABI {

inline void DisableDmaAtomic(rt::Loc loc = rt::Loc::here()) {
    SetAtomicNone(loc);
}
inline int64_t GetTaskRatio() {
    return GetTaskRation();
}
template <typename T>
void InitGlobalMemory(GlobalTensor<T>& dst, uint64_t size, T value, rt::Loc loc = rt::Loc::here()) {
    InitOutput(dst, static_cast<uint32_t>(size), value, loc);
}
constexpr uint32_t GetUBSizeInBytes() {
    return TOTAL_UB_SIZE;
}

template <typename T, typename U, typename... Rest>
void Compares(const LocalTensor<U>& dst, const LocalTensor<T>& src, const T scalar, CMPMODE mode,
              uint32_t count, rt::Loc loc = rt::Loc::here()) {
    CompareScalar(dst, src, scalar, mode, count, loc);
}
template <typename T, typename U>
void Compares(const LocalTensor<U>& dst, const LocalTensor<T>& src, const T scalar, CMPMODE mode,
              uint64_t mask, uint8_t repeat, const UnaryRepeatParams& params,
              rt::Loc loc = rt::Loc::here()) {
    CompareScalar(dst, src, scalar, mode, mask, repeat, params, loc);
}

template <typename A, typename B>
using IsSameType = std::is_same<A, B>;
template <typename T>
using PrimT = T;

// Compile-time helpers of CANN's device library.
namespace Std {
template <bool condition, typename T, typename F>
using conditional = std::conditional<condition, T, F>;
template <bool condition, typename T, typename F>
using conditional_t = std::conditional_t<condition, T, F>;
template <typename A, typename B>
using is_same = std::is_same<A, B>;
template <typename A, typename B>
constexpr bool is_same_v = std::is_same_v<A, B>;
template <bool condition, typename T = void>
using enable_if = std::enable_if<condition, T>;
template <bool condition, typename T = void>
using enable_if_t = std::enable_if_t<condition, T>;
template <typename A, typename B>
using is_convertible = std::is_convertible<A, B>;
template <typename T, T v>
using integral_constant = std::integral_constant<T, v>;
using std::declval;
template <typename T>
constexpr T max(T a, T b) {
    return a > b ? a : b;
}
template <typename T>
constexpr T min(T a, T b) {
    return a < b ? a : b;
}
}  // namespace Std

}  // namespace ASCENDC_EMULATOR_ABI
}  // namespace AscendC
