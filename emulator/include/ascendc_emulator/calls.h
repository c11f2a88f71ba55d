// What the API headers share: which types exist, and building the call for the runtime.
#pragma once

#include "ascendc_emulator/tensor.h"

// The dtype or the instruction itself is missing on this product: no code is generated.
#define ASCENDC_EMULATOR_REQUIRE(condition, api) \
    static_assert(condition,                     \
                  "AscendC::" api                \
                  " does not exist for this element type on " ASCENDC_EMULATOR_SOC_NAME)

namespace AscendC {
inline namespace ASCENDC_EMULATOR_ABI {

template <typename T, typename... List>
constexpr bool one_of = (std::is_same_v<T, List> || ...);
constexpr bool on_910b = ASCENDC_EMULATOR_SOC == 220;
constexpr bool on_310p = ASCENDC_EMULATOR_SOC == 200;
constexpr bool on_910 = ASCENDC_EMULATOR_SOC == 100;
template <typename T>
constexpr bool is_floating = one_of<T, float, half>;
template <typename T>
constexpr bool dependent_false = false;

inline rt::Mask count_mask(uint64_t n, bool set) {
    return {set ? rt::Mask::kCount : rt::Mask::kRegister, n, 0};
}
inline rt::Mask bit_mask(const uint64_t mask[], bool set) {
    if (!set) return {rt::Mask::kRegister, 0, 0};
    return {rt::Mask::kBits, mask[0], mask[1]};
}
template <typename T>
uint64_t scalar_bits(const T& value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

template <typename D, typename S>
rt::VectorCall unary_call(const char* name, rt::Op op, const LocalTensor<D>& dst,
                          const LocalTensor<S>& src) {
    rt::VectorCall call;
    call.name = name;
    call.op = op;
    call.sources = 1;
    call.dst.tensor = dst.ub;
    call.src0.tensor = src.ub;
    return call;
}
template <typename D, typename S>
rt::VectorCall binary_call(const char* name, rt::Op op, const LocalTensor<D>& dst,
                           const LocalTensor<S>& src0, const LocalTensor<S>& src1) {
    rt::VectorCall call = unary_call(name, op, dst, src0);
    call.sources = 2;
    call.src1.tensor = src1.ub;
    return call;
}
inline void set_form(rt::VectorCall& call, const rt::Mask& mask, int64_t repeat,
                     const UnaryRepeatParams& p) {
    call.mask = mask;
    call.repeat = repeat;
    call.dst.block_stride = p.dstBlkStride;
    call.dst.repeat_stride = p.dstRepStride;
    call.src0.block_stride = p.srcBlkStride;
    call.src0.repeat_stride = p.srcRepStride;
}
inline void set_form(rt::VectorCall& call, const rt::Mask& mask, int64_t repeat,
                     const BinaryRepeatParams& p) {
    call.mask = mask;
    call.repeat = repeat;
    call.dst.block_stride = p.dstBlkStride;
    call.dst.repeat_stride = p.dstRepStride;
    call.src0.block_stride = p.src0BlkStride;
    call.src0.repeat_stride = p.src0RepStride;
    call.src1.block_stride = p.src1BlkStride;
    call.src1.repeat_stride = p.src1RepStride;
}
inline void set_count(rt::VectorCall& call, int64_t count) {
    call.counted = true;
    call.count = static_cast<uint64_t>(count);
}
template <typename T>
void set_scalar(rt::VectorCall& call, const T& value) {
    call.scalar = scalar_bits(value);
}

}  // namespace ASCENDC_EMULATOR_ABI
}  // namespace AscendC
