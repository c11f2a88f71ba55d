// Rearranging data inside UB: Brcb, Gather, GatherMask, Transpose, TransDataTo5HD, Broadcast,
// indices.
#pragma once

#include "ascendc_emulator/calls.h"

namespace AscendC {
inline namespace ASCENDC_EMULATOR_ABI {

template <typename T>
constexpr bool is_16_or_32_bit =
    one_of<T, half, bfloat16_t, int16_t, uint16_t, float, int32_t, uint32_t>;

template <typename T>
void Brcb(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint8_t repeat,
          const BrcbRepeatParams& params, rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(!on_910 && is_16_or_32_bit<T>, "Brcb");
    rt::brcb(dst.ub, src.ub, repeat, params.dstBlkStride, params.dstRepStride, loc);
}

template <typename T>
rt::VectorCall gather_call(const char* name, const LocalTensor<T>& dst, const LocalTensor<T>& src) {
    return unary_call(name, rt::Op::copy, dst, src);
}
template <typename T>
void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src,
            const LocalTensor<uint32_t>& offsets, uint32_t base, uint64_t mask, uint8_t repeat,
            uint16_t dstRep, rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(!on_910 && is_16_or_32_bit<T>, "Gather");
    auto call = gather_call("Gather", dst, src);
    call.mask = count_mask(mask, true);
    call.repeat = repeat;
    call.dst.repeat_stride = dstRep;
    rt::gather(call, offsets.ub, base, loc);
}
template <typename T>
void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src,
            const LocalTensor<uint32_t>& offsets, uint32_t base, const uint64_t mask[],
            uint8_t repeat, uint16_t dstRep, rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(!on_910 && is_16_or_32_bit<T>, "Gather");
    auto call = gather_call("Gather", dst, src);
    call.mask = bit_mask(mask, true);
    call.repeat = repeat;
    call.dst.repeat_stride = dstRep;
    rt::gather(call, offsets.ub, base, loc);
}
template <typename T>
void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src,
            const LocalTensor<uint32_t>& offsets, uint32_t base, uint32_t count,
            rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(!on_910 && is_16_or_32_bit<T>, "Gather");
    auto call = gather_call("Gather", dst, src);
    set_count(call, count);
    rt::gather(call, offsets.ub, base, loc);
}
template <typename T>
void Gatherb(const LocalTensor<T>& dst, const LocalTensor<T>& src,
             const LocalTensor<uint32_t>& offsets, uint8_t repeat, const GatherRepeatParams& params,
             rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE((on_910b && one_of<T, uint16_t, uint32_t>), "Gatherb");
    rt::gather_blocks(dst.ub, src.ub, offsets.ub, repeat, params.dstBlkStride, params.dstRepStride,
                      loc);
}
template <typename T>
void Scatter(const LocalTensor<T>& dst, const LocalTensor<T>& src,
             const LocalTensor<uint32_t>& offsets, uint32_t base, uint64_t mask, uint8_t repeat,
             uint8_t srcRep, rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(on_310p && is_16_or_32_bit<T>, "Scatter");
    auto call = gather_call("Scatter", dst, src);
    call.mask = count_mask(mask, true);
    call.repeat = repeat;
    call.src0.repeat_stride = srcRep;
    rt::scatter(call, offsets.ub, base, loc);
}
template <typename T>
void Scatter(const LocalTensor<T>& dst, const LocalTensor<T>& src,
             const LocalTensor<uint32_t>& offsets, uint32_t base, const uint64_t mask[],
             uint8_t repeat, uint8_t srcRep, rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(on_310p && is_16_or_32_bit<T>, "Scatter");
    auto call = gather_call("Scatter", dst, src);
    call.mask = bit_mask(mask, true);
    call.repeat = repeat;
    call.src0.repeat_stride = srcRep;
    rt::scatter(call, offsets.ub, base, loc);
}
template <typename T>
void Scatter(const LocalTensor<T>& dst, const LocalTensor<T>& src,
             const LocalTensor<uint32_t>& offsets, uint32_t base, uint32_t count,
             rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(on_310p && is_16_or_32_bit<T>, "Scatter");
    auto call = gather_call("Scatter", dst, src);
    set_count(call, count);
    rt::scatter(call, offsets.ub, base, loc);
}

constexpr GatherMaskMode defaultGatherMaskMode =
    on_910b ? GatherMaskMode::VERSION_V2 : GatherMaskMode::VERSION_V1;
template <typename T>
constexpr bool has_gather_mask =
    !on_910 && (one_of<T, half, uint16_t, int16_t, float, uint32_t, int32_t> ||
                (on_910b && one_of<T, bfloat16_t>));
template <typename T>
rt::GatherMaskCall gather_mask_call(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                    bool reduceMode, uint32_t mask, const GatherMaskParams& p) {
    rt::GatherMaskCall call;
    call.dst = dst.ub;
    call.src = src.ub;
    call.reduce_mode = reduceMode;
    call.mask = mask;
    call.src0_blk = p.src0BlockStride;
    call.repeat = p.repeatTimes;
    call.src0_rep = p.src0RepeatStride;
    call.src1_rep = p.src1RepeatStride;
    return call;
}
template <typename T, typename U, GatherMaskMode mode = defaultGatherMaskMode>
void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<U>& pattern,
                bool reduceMode, uint32_t mask, const GatherMaskParams& params, uint64_t& rsvdCnt,
                rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(has_gather_mask<T> && sizeof(U) == sizeof(T), "GatherMask");
    static_assert(mode == defaultGatherMaskMode, "GatherMask: the other product's mode");
    auto call = gather_mask_call(dst, src, reduceMode, mask, params);
    call.use_pattern_tensor = true;
    call.pattern_tensor = pattern.ub;
    rsvdCnt = rt::gather_mask(call, loc);
}
template <typename T, GatherMaskMode mode = defaultGatherMaskMode>
void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint8_t pattern,
                bool reduceMode, uint32_t mask, const GatherMaskParams& params, uint64_t& rsvdCnt,
                rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(has_gather_mask<T>, "GatherMask");
    static_assert(mode == defaultGatherMaskMode, "GatherMask: the other product's mode");
    auto call = gather_mask_call(dst, src, reduceMode, mask, params);
    call.pattern = pattern;
    rsvdCnt = rt::gather_mask(call, loc);
}
#if __CCE_AICORE__ >= 200
inline int64_t GetGatherMaskRemainCount() {
    return static_cast<int64_t>(rt::last_gather_mask_count());
}
#endif

template <typename T>
void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
               rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE((one_of<T, half, int16_t, uint16_t>), "Transpose");
    rt::transpose16(dst.ub, src.ub, loc);
}

template <typename T>
constexpr bool has_to_5hd = one_of<T, int8_t, uint8_t, half, int16_t, uint16_t> ||
                            (!on_910 && one_of<T, float, int32_t, uint32_t>);
template <typename T>
void TransDataTo5HD(const LocalTensor<T> (&dst)[16], const LocalTensor<T> (&src)[16],
                    const TransDataTo5HDParams& params, rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(has_to_5hd<T>, "TransDataTo5HD");
    rt::UbTensor d[16], s[16];
    for (int i = 0; i < 16; ++i) {
        d[i] = dst[i].ub;
        s[i] = src[i].ub;
    }
    rt::trans_data_to_5hd(d, s, params.dstHighHalf, params.srcHighHalf, params.repeatTimes,
                          params.dstRepStride, params.srcRepStride, loc);
}
// The address-list form: addresses are what GetPhyAddr() returned.
template <typename T>
void TransDataTo5HD(uint64_t dst[16], uint64_t src[16], const TransDataTo5HDParams& params,
                    rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(has_to_5hd<T>, "TransDataTo5HD");
    rt::UbTensor d[16], s[16];
    for (int i = 0; i < 16; ++i) {
        d[i] = LocalTensor<T>(rt::ub_tensor_at(dst[i])).ub;
        s[i] = LocalTensor<T>(rt::ub_tensor_at(src[i])).ub;
    }
    rt::trans_data_to_5hd(d, s, params.dstHighHalf, params.srcHighHalf, params.repeatTimes,
                          params.dstRepStride, params.srcRepStride, loc);
}

template <typename T>
rt::VectorCall index_call(const LocalTensor<T>& dst, const T& first) {
    static_assert(on_910b && one_of<T, int16_t, half, int32_t, float>,
                  "AscendC::CreateVecIndex does not exist for this element type on "  //
                  ASCENDC_EMULATOR_SOC_NAME);
    rt::VectorCall call;
    call.name = "CreateVecIndex";
    call.dst.tensor = dst.ub;
    set_scalar(call, first);
    return call;
}
template <typename T>
void CreateVecIndex(LocalTensor<T>& dst, const T& first, uint64_t mask, uint8_t repeat,
                    uint16_t dstBlk, uint8_t dstRep, rt::Loc loc = rt::Loc::here()) {
    auto call = index_call(dst, first);
    set_form(call, count_mask(mask, true), repeat, UnaryRepeatParams{dstBlk, 1, dstRep, 8});
    rt::create_index(call, loc);
}
template <typename T>
void CreateVecIndex(LocalTensor<T>& dst, const T& first, uint64_t mask[], uint8_t repeat,
                    uint16_t dstBlk, uint8_t dstRep, rt::Loc loc = rt::Loc::here()) {
    auto call = index_call(dst, first);
    set_form(call, bit_mask(mask, true), repeat, UnaryRepeatParams{dstBlk, 1, dstRep, 8});
    rt::create_index(call, loc);
}
template <typename T>
void CreateVecIndex(LocalTensor<T> dst, const T& first, uint32_t count,
                    rt::Loc loc = rt::Loc::here()) {
    auto call = index_call(dst, first);
    set_count(call, count);
    rt::create_index(call, loc);
}

template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
void Broadcast(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t dstShape[dim],
               const uint32_t srcShape[dim], rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(!on_910 && is_floating<T>, "Broadcast");
    static_assert(dim == 1 || dim == 2, "AscendC::Broadcast: dim is 1 or 2");
    static_assert(axis == 0 || axis == 1, "AscendC::Broadcast: axis is 0 or 1");
    rt::broadcast(dst.ub, src.ub, nullptr, dim, axis, dstShape, srcShape, loc);
}
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
void Broadcast(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t dstShape[dim],
               const uint32_t srcShape[dim], LocalTensor<uint8_t>& tmp,
               rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(!on_910 && is_floating<T>, "Broadcast");
    static_assert(dim == 1 || dim == 2, "AscendC::Broadcast: dim is 1 or 2");
    static_assert(axis == 0 || axis == 1, "AscendC::Broadcast: axis is 0 or 1");
    rt::broadcast(dst.ub, src.ub, &tmp.ub, dim, axis, dstShape, srcShape, loc);
}

}  // namespace ASCENDC_EMULATOR_ABI
}  // namespace AscendC
