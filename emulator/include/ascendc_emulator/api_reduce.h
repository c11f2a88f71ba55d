// Reductions. Argument order is CANN 8.1's: BlockReduce takes repeat before mask.
#pragma once

#include "ascendc_emulator/calls.h"

namespace AscendC {
inline namespace ASCENDC_EMULATOR_ABI {

// Older products document half only; float WholeReduceSum compiles there, as in CANN's headers.
template <typename T>
constexpr bool has_reduce = std::is_same_v<T, half> || (!on_910 && std::is_same_v<T, float>);

template <typename T>
rt::VectorCall reduce_call(const char* name, const LocalTensor<T>& dst, const LocalTensor<T>& src,
                           const rt::Mask& mask, int64_t repeat, int64_t dst_rep, int64_t src_blk,
                           int64_t src_rep) {
    auto call = unary_call(name, rt::Op::copy, dst, src);
    call.mask = mask;
    call.repeat = repeat;
    call.dst.repeat_stride = static_cast<uint32_t>(dst_rep);
    call.src0.block_stride = static_cast<uint32_t>(src_blk);
    call.src0.repeat_stride = static_cast<uint32_t>(src_rep);
    return call;
}

// clang-format off
#define ASCENDC_EMULATOR_BLOCK_REDUCE(Name, kind, allowed)                                         \
    template <typename T, bool isSetMask = true>                                                   \
    void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, int32_t repeat, int32_t mask,  \
              int32_t dstRep, int32_t srcBlk, int32_t srcRep, rt::Loc loc = rt::Loc::here()) {     \
        ASCENDC_EMULATOR_REQUIRE((allowed), #Name);                                                \
        rt::reduce_repeats(reduce_call(#Name, dst, src,                                            \
                                       count_mask(static_cast<uint64_t>(mask), isSetMask), repeat, \
                                       dstRep, srcBlk, srcRep),                                    \
                           rt::Reduce::kind, ReduceOrder::ORDER_ONLY_VALUE, loc);                  \
    }                                                                                              \
    template <typename T, bool isSetMask = true>                                                   \
    void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, int32_t repeat,                \
              const uint64_t mask[], int32_t dstRep, int32_t srcBlk, int32_t srcRep,               \
              rt::Loc loc = rt::Loc::here()) {                                                     \
        ASCENDC_EMULATOR_REQUIRE((allowed), #Name);                                                \
        rt::reduce_repeats(reduce_call(#Name, dst, src, bit_mask(mask, isSetMask), repeat, dstRep, \
                                       srcBlk, srcRep),                                            \
                           rt::Reduce::kind, ReduceOrder::ORDER_ONLY_VALUE, loc);                  \
    }
ASCENDC_EMULATOR_BLOCK_REDUCE(BlockReduceSum, block_sum, has_reduce<T>)
ASCENDC_EMULATOR_BLOCK_REDUCE(BlockReduceMax, block_max, has_reduce<T>)
ASCENDC_EMULATOR_BLOCK_REDUCE(BlockReduceMin, block_min, has_reduce<T>)
ASCENDC_EMULATOR_BLOCK_REDUCE(PairReduceSum, pair_sum, has_reduce<T>)
#undef ASCENDC_EMULATOR_BLOCK_REDUCE

template <typename T, bool isSetMask = true>
void RepeatReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, int32_t repeat,
                     int32_t elemsInOneRepeat, int32_t dstBlk, int32_t srcBlk, int32_t dstRep,
                     int32_t srcRep, rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(has_reduce<T>, "RepeatReduceSum");
    (void)dstBlk;
    rt::reduce_repeats(reduce_call("RepeatReduceSum", dst, src,
                                   count_mask(static_cast<uint64_t>(elemsInOneRepeat), isSetMask),
                                   repeat, dstRep, srcBlk, srcRep),
                       rt::Reduce::whole_sum, ReduceOrder::ORDER_ONLY_VALUE, loc);
}

template <typename T, bool isSetMask = true>
void WholeReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, int32_t mask,
                    int32_t repeat, int32_t dstRep, int32_t srcBlk, int32_t srcRep,
                    rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(is_floating<T>, "WholeReduceSum");
    rt::reduce_repeats(reduce_call("WholeReduceSum", dst, src,
                                   count_mask(static_cast<uint64_t>(mask), isSetMask), repeat,
                                   dstRep, srcBlk, srcRep),
                       rt::Reduce::whole_sum, ReduceOrder::ORDER_ONLY_VALUE, loc);
}
template <typename T, bool isSetMask = true>
void WholeReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[],
                    int32_t repeat, int32_t dstRep, int32_t srcBlk, int32_t srcRep,
                    rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(is_floating<T>, "WholeReduceSum");
    rt::reduce_repeats(reduce_call("WholeReduceSum", dst, src, bit_mask(mask, isSetMask), repeat,
                                   dstRep, srcBlk, srcRep),
                       rt::Reduce::whole_sum, ReduceOrder::ORDER_ONLY_VALUE, loc);
}
#define ASCENDC_EMULATOR_WHOLE_REDUCE(Name, kind)                                                  \
    template <typename T, bool isSetMask = true>                                                   \
    void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, int32_t mask, int32_t repeat,  \
              int32_t dstRep, int32_t srcBlk, int32_t srcRep,                                      \
              ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, rt::Loc loc = rt::Loc::here()) { \
        ASCENDC_EMULATOR_REQUIRE(has_reduce<T>, #Name);                                            \
        rt::reduce_repeats(reduce_call(#Name, dst, src,                                            \
                                       count_mask(static_cast<uint64_t>(mask), isSetMask), repeat, \
                                       dstRep, srcBlk, srcRep),                                    \
                           rt::Reduce::kind, order, loc);                                          \
    }                                                                                              \
    template <typename T, bool isSetMask = true>                                                   \
    void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[],         \
              int32_t repeat, int32_t dstRep, int32_t srcBlk, int32_t srcRep,                      \
              ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, rt::Loc loc = rt::Loc::here()) { \
        ASCENDC_EMULATOR_REQUIRE(has_reduce<T>, #Name);                                            \
        rt::reduce_repeats(reduce_call(#Name, dst, src, bit_mask(mask, isSetMask), repeat, dstRep, \
                                       srcBlk, srcRep),                                            \
                           rt::Reduce::kind, order, loc);                                          \
    }
ASCENDC_EMULATOR_WHOLE_REDUCE(WholeReduceMax, whole_max)
ASCENDC_EMULATOR_WHOLE_REDUCE(WholeReduceMin, whole_min)
#undef ASCENDC_EMULATOR_WHOLE_REDUCE
// clang-format on

template <typename T>
rt::VectorCall reduce_all_call(const char* name, const LocalTensor<T>& dst,
                               const LocalTensor<T>& src, const LocalTensor<T>& work) {
    return binary_call(name, rt::Op::copy, dst, src, work);
}
template <typename T, bool isSetMask = true>
void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work,
               int32_t count, rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(has_reduce<T>, "ReduceSum");
    auto call = reduce_all_call("ReduceSum", dst, src, work);
    set_count(call, count);
    rt::reduce_all(call, rt::ReduceAll::sum, false, loc);
}
template <typename T>
void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work,
               int32_t mask, int32_t repeat, int32_t srcRep, rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(has_reduce<T>, "ReduceSum");
    auto call = reduce_all_call("ReduceSum", dst, src, work);
    call.mask = count_mask(static_cast<uint64_t>(mask), true);
    call.repeat = repeat;
    call.src0.repeat_stride = static_cast<uint32_t>(srcRep);
    rt::reduce_all(call, rt::ReduceAll::sum, false, loc);
}
template <typename T>
void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work,
               const uint64_t mask[], int32_t repeat, int32_t srcRep,
               rt::Loc loc = rt::Loc::here()) {
    ASCENDC_EMULATOR_REQUIRE(has_reduce<T>, "ReduceSum");
    auto call = reduce_all_call("ReduceSum", dst, src, work);
    call.mask = bit_mask(mask, true);
    call.repeat = repeat;
    call.src0.repeat_stride = static_cast<uint32_t>(srcRep);
    rt::reduce_all(call, rt::ReduceAll::sum, false, loc);
}
#define ASCENDC_EMULATOR_REDUCE_EXTREME(Name, kind)                                             \
    template <typename T>                                                                       \
    void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work, \
              int32_t count, bool calIndex = false, rt::Loc loc = rt::Loc::here()) {            \
        ASCENDC_EMULATOR_REQUIRE(has_reduce<T>, #Name);                                         \
        auto call = reduce_all_call(#Name, dst, src, work);                                     \
        set_count(call, count);                                                                 \
        rt::reduce_all(call, rt::ReduceAll::kind, calIndex, loc);                               \
    }                                                                                           \
    template <typename T>                                                                       \
    void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work, \
              int32_t mask, int32_t repeat, int32_t srcRep, bool calIndex = false,              \
              rt::Loc loc = rt::Loc::here()) {                                                  \
        ASCENDC_EMULATOR_REQUIRE(has_reduce<T>, #Name);                                         \
        auto call = reduce_all_call(#Name, dst, src, work);                                     \
        call.mask = count_mask(static_cast<uint64_t>(mask), true);                              \
        call.repeat = repeat;                                                                   \
        call.src0.repeat_stride = static_cast<uint32_t>(srcRep);                                \
        rt::reduce_all(call, rt::ReduceAll::kind, calIndex, loc);                               \
    }                                                                                           \
    template <typename T>                                                                       \
    void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work, \
              const uint64_t mask[], int32_t repeat, int32_t srcRep, bool calIndex = false,     \
              rt::Loc loc = rt::Loc::here()) {                                                  \
        ASCENDC_EMULATOR_REQUIRE(has_reduce<T>, #Name);                                         \
        auto call = reduce_all_call(#Name, dst, src, work);                                     \
        call.mask = bit_mask(mask, true);                                                       \
        call.repeat = repeat;                                                                   \
        call.src0.repeat_stride = static_cast<uint32_t>(srcRep);                                \
        rt::reduce_all(call, rt::ReduceAll::kind, calIndex, loc);                               \
    }
ASCENDC_EMULATOR_REDUCE_EXTREME(ReduceMax, max)
ASCENDC_EMULATOR_REDUCE_EXTREME(ReduceMin, min)
#undef ASCENDC_EMULATOR_REDUCE_EXTREME

// The accumulator and extreme registers that the last ReduceSum / ReduceMax / ReduceMin left
// behind.
template <typename T>
T GetAccVal(rt::Loc loc = rt::Loc::here()) {
    static_assert(on_910b || dependent_false<T>,
                  "AscendC::GetAccVal does not exist on " ASCENDC_EMULATOR_SOC_NAME);
    uint64_t bits = 0, index = 0;
    rt::last_reduce_result(&bits, &index, true, loc);
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}
template <typename T>
void GetReduceMaxMinCount(T& value, T& position, rt::Loc loc = rt::Loc::here()) {
    static_assert(on_910b || dependent_false<T>,
                  "AscendC::GetReduceMaxMinCount(value, index) does not exist on "  //
                  ASCENDC_EMULATOR_SOC_NAME);
    uint64_t bits = 0, index = 0;
    rt::last_reduce_result(&bits, &index, false, loc);
    std::memcpy(&value, &bits, sizeof value);
    std::memcpy(&position, &index, sizeof position);
}

}  // namespace ASCENDC_EMULATOR_ABI
}  // namespace AscendC
