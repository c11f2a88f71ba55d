// Data movement between GM and UB and inside UB, atomics on the way out.
#pragma once

#include "ascendc_emulator/calls.h"

namespace AscendC {
inline namespace ASCENDC_EMULATOR_ABI {

template <typename T>
rt::CopyCall counted_copy(uint32_t count) {
    rt::CopyCall call;
    call.counted = true;
    call.requested_bytes = uint64_t(count) * sizeof(T);
    call.block_bytes = call.requested_bytes / ONE_BLK_SIZE * ONE_BLK_SIZE;
    return call;
}
inline rt::CopyCall block_copy(const DataCopyParams& p) {
    rt::CopyCall call;
    call.block_count = p.blockCount;
    call.block_bytes = uint64_t(p.blockLen) * ONE_BLK_SIZE;
    call.src_gap = uint64_t(p.srcStride) * ONE_BLK_SIZE;
    call.dst_gap = uint64_t(p.dstStride) * ONE_BLK_SIZE;
    return call;
}

template <typename T>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, uint32_t count,
              rt::Loc loc = rt::Loc::here()) {
    rt::copy_in(dst.ub, src.gm, counted_copy<T>(count), loc);
}
template <typename T>
void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, uint32_t count,
              rt::Loc loc = rt::Loc::here()) {
    rt::copy_out(dst.gm, src.ub, counted_copy<T>(count), loc);
}
template <typename T>
void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint32_t count,
              rt::Loc loc = rt::Loc::here()) {
    rt::copy_local(dst.ub, src.ub, counted_copy<T>(count), loc);
}
template <typename T>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& params,
              rt::Loc loc = rt::Loc::here()) {
    rt::copy_in(dst.ub, src.gm, block_copy(params), loc);
}
template <typename T>
void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& params,
              rt::Loc loc = rt::Loc::here()) {
    rt::copy_out(dst.gm, src.ub, block_copy(params), loc);
}
template <typename T>
void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& params,
              rt::Loc loc = rt::Loc::here()) {
    rt::copy_local(dst.ub, src.ub, block_copy(params), loc);
}
#if __CCE_AICORE__ == 220
template <typename T, typename Params>
rt::CopyCall padded_copy(const Params& p, bool into_ub) {
    rt::CopyCall call;
    call.name = "DataCopyPad";
    call.pad = true;
    call.block_count = p.blockCount;
    call.block_bytes = p.blockLen;
    call.src_gap = into_ub ? p.srcStride : uint64_t(p.srcStride) * ONE_BLK_SIZE;
    call.dst_gap = into_ub ? uint64_t(p.dstStride) * ONE_BLK_SIZE : p.dstStride;
    return call;
}
template <typename T>
void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                 const DataCopyExtParams& params, const DataCopyPadExtParams<T>& pad,
                 rt::Loc loc = rt::Loc::here()) {
    auto call = padded_copy<T>(params, true);
    call.is_pad = pad.isPad;
    call.left = pad.leftPadding;
    call.right = pad.rightPadding;
    call.pad_bits = scalar_bits(pad.paddingValue);
    rt::copy_in(dst.ub, src.gm, call, loc);
}
template <typename T>
void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                 const DataCopyParams& params, const DataCopyPadParams& pad,
                 rt::Loc loc = rt::Loc::here()) {
    auto call = padded_copy<T>(params, true);
    call.is_pad = pad.isPad;
    call.left = pad.leftPadding;
    call.right = pad.rightPadding;
    call.pad_bits = pad.paddingValue;
    rt::copy_in(dst.ub, src.gm, call, loc);
}
template <typename T>
void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                 const DataCopyExtParams& params, rt::Loc loc = rt::Loc::here()) {
    rt::copy_out(dst.gm, src.ub, padded_copy<T>(params, false), loc);
}
template <typename T>
void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                 const DataCopyParams& params, rt::Loc loc = rt::Loc::here()) {
    rt::copy_out(dst.gm, src.ub, padded_copy<T>(params, false), loc);
}

inline void set_form(rt::VectorCall& call, const rt::Mask& mask, int64_t repeat,
                     const CopyRepeatParams& p) {
    call.mask = mask;
    call.repeat = repeat;
    call.dst.block_stride = p.dstStride;
    call.dst.repeat_stride = p.dstRepeatSize;
    call.src0.block_stride = p.srcStride;
    call.src0.repeat_stride = p.srcRepeatSize;
}
template <typename T>
constexpr bool has_copy = one_of<T, half, bfloat16_t, int16_t, uint16_t, float, int32_t, uint32_t>;
template <typename T, bool isSetMask = true>
void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[],
          uint8_t repeat, const CopyRepeatParams& params, rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(has_copy<T>, "Copy");
    auto call = unary_call("Copy", rt::Op::copy, dst, src);
    set_form(call, bit_mask(mask, isSetMask), repeat, params);
    rt::elementwise(call, loc);
}
template <typename T, bool isSetMask = true>
void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t mask, uint8_t repeat,
          const CopyRepeatParams& params, rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(has_copy<T>, "Copy");
    auto call = unary_call("Copy", rt::Op::copy, dst, src);
    set_form(call, count_mask(mask, isSetMask), repeat, params);
    rt::elementwise(call, loc);
}
#endif

template <typename T>
void InitOutput(GlobalTensor<T> dst, uint32_t size, T value = 0, rt::Loc loc = rt::Loc::here()) {
    rt::init_output(dst.gm, size, scalar_bits(value), loc);
}

// clang-format off
template <typename T>
constexpr bool has_atomic_add =
    on_910b ? one_of<T, float, half, bfloat16_t, int32_t, int16_t, int8_t>
            : on_310p ? one_of<T, float, half, int16_t> : one_of<T, float>;
template <typename T>
constexpr bool has_atomic_extreme =
    on_910b && one_of<T, float, half, bfloat16_t, int32_t, int16_t, int8_t>;
// clang-format on
template <typename T>
void SetAtomicAdd(rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(has_atomic_add<T>, "SetAtomicAdd");
    rt::set_atomic(rt::Atomic::add, rt::dtype_of<T>(), loc);
}
template <typename T>
void SetAtomicMax(rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(has_atomic_extreme<T>, "SetAtomicMax");
    rt::set_atomic(rt::Atomic::max, rt::dtype_of<T>(), loc);
}
template <typename T>
void SetAtomicMin(rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(has_atomic_extreme<T>, "SetAtomicMin");
    rt::set_atomic(rt::Atomic::min, rt::dtype_of<T>(), loc);
}
inline void SetAtomicNone(rt::Loc loc = rt::Loc::here()) {
    rt::set_atomic(rt::Atomic::none, rt::DType::other, loc);
}

template <typename T, CacheLine line, DcciDst dst>
void DataCacheCleanAndInvalid(const GlobalTensor<T>& tensor, rt::Loc loc = rt::Loc::here()) {
    static_assert(on_910b || dependent_false<T>,
                  "AscendC::DataCacheCleanAndInvalid<T, line, dst> does not exist on "  //
                  ASCENDC_EMULATOR_SOC_NAME);
    rt::clean_cache(tensor.gm.address, line == CacheLine::ENTIRE_DATA_CACHE, loc);
}
template <typename T, CacheLine line>
void DataCacheCleanAndInvalid(const GlobalTensor<T>& tensor, rt::Loc loc = rt::Loc::here()) {
    static_assert(!on_910 || dependent_false<T>,
                  "AscendC::DataCacheCleanAndInvalid does not exist on " ASCENDC_EMULATOR_SOC_NAME);
    rt::clean_cache(tensor.gm.address, line == CacheLine::ENTIRE_DATA_CACHE, loc);
}

}  // namespace ASCENDC_EMULATOR_ABI
}  // namespace AscendC
