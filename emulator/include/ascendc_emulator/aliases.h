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

template <typename T, typename U>
void Compares(const LocalTensor<U>& dst, const LocalTensor<T>& src, const T scalar, CMPMODE mode,
              uint32_t count, rt::Loc loc = rt::Loc::here()) {
    CompareScalar(dst, src, scalar, mode, count, loc);
}
template <typename T, typename U, bool isSetMask = true>
void Compares(const LocalTensor<U>& dst, const LocalTensor<T>& src, const T scalar, CMPMODE mode,
              uint64_t mask, uint8_t repeat, const UnaryRepeatParams& params,
              rt::Loc loc = rt::Loc::here()) {
    CompareScalar<T, U, isSetMask>(dst, src, scalar, mode, mask, repeat, params, loc);
}

template <typename T, typename U, bool isSetMask = true>
void Compares(const LocalTensor<U>& dst, const LocalTensor<T>& src, const T scalar, CMPMODE mode,
              const uint64_t mask[], uint8_t repeat, const UnaryRepeatParams& params,
              rt::Loc loc = rt::Loc::here()) {
    CompareScalar<T, U, isSetMask>(dst, src, scalar, mode, mask, repeat, params, loc);
}

// The reductions inside repeats, named by what they reduce. `Mask`: a count or an array of bits.
enum class ReduceType { SUM, MAX, MIN };
template <ReduceType type, typename T, typename U, bool isSetMask = true, typename Mask>
void ReduceRepeat(const LocalTensor<T>& dst, const LocalTensor<U>& src, const Mask& mask,
                  int32_t repeat, int32_t dstRep, int32_t srcBlk, int32_t srcRep,
                  ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX,
                  rt::Loc loc = rt::Loc::here()) {
    if constexpr (type == ReduceType::SUM)
        WholeReduceSum<T, isSetMask>(dst, src, mask, repeat, dstRep, srcBlk, srcRep, loc);
    if constexpr (type == ReduceType::MAX)
        WholeReduceMax<T, isSetMask>(dst, src, mask, repeat, dstRep, srcBlk, srcRep, order, loc);
    if constexpr (type == ReduceType::MIN)
        WholeReduceMin<T, isSetMask>(dst, src, mask, repeat, dstRep, srcBlk, srcRep, order, loc);
}
template <ReduceType type, typename T, typename U, bool isSetMask = true, typename Mask>
void ReduceDataBlock(const LocalTensor<T>& dst, const LocalTensor<U>& src, const Mask& mask,
                     int32_t repeat, int32_t dstRep, int32_t srcBlk, int32_t srcRep,
                     rt::Loc loc = rt::Loc::here()) {
    if constexpr (type == ReduceType::SUM)
        BlockReduceSum<T, isSetMask>(dst, src, repeat, mask, dstRep, srcBlk, srcRep, loc);
    if constexpr (type == ReduceType::MAX)
        BlockReduceMax<T, isSetMask>(dst, src, repeat, mask, dstRep, srcBlk, srcRep, loc);
    if constexpr (type == ReduceType::MIN)
        BlockReduceMin<T, isSetMask>(dst, src, repeat, mask, dstRep, srcBlk, srcRep, loc);
}
template <ReduceType type, typename T, typename U, bool isSetMask = true, typename Mask>
void ReducePairElem(const LocalTensor<T>& dst, const LocalTensor<U>& src, const Mask& mask,
                    int32_t repeat, int32_t dstRep, int32_t srcBlk, int32_t srcRep,
                    rt::Loc loc = rt::Loc::here()) {
    static_assert(type == ReduceType::SUM, "AscendC::ReducePairElem sums only");
    PairReduceSum<T, isSetMask>(dst, src, repeat, mask, dstRep, srcBlk, srcRep, loc);
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
