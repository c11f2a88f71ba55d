// Cast, Compare, Select and reductions in all call forms and element types.
#include "operands.h"

namespace {

__aicore__ inline void conversions(Operands& u) {
#define CAST(D, S, mode)                                                                  \
    Cast(u.dst<D>(), u.src0<S>(), RoundMode::mode, 64);                                   \
    Cast(u.dst<D>(), u.src0<S>(), RoundMode::mode, uint64_t(16), 1, UnaryRepeatParams()); \
    Cast(u.dst<D>(), u.src0<S>(), RoundMode::mode, u.bits, 1, UnaryRepeatParams(1, 1, 8, 8));
    CAST(half, int8_t, CAST_NONE)
    CAST(half, uint8_t, CAST_NONE)
    CAST(uint8_t, half, CAST_NONE)
    CAST(int32_t, half, CAST_CEIL)
    CAST(float, half, CAST_NONE)
    CAST(half, float, CAST_NONE)
    CAST(int32_t, float, CAST_RINT)
    CAST(int8_t, half, CAST_NONE)
    CAST(float, int32_t, CAST_NONE)
#if __CCE_AICORE__ != 100
    SetDeqScale(half(1.0f));
    CAST(half, int32_t, CAST_NONE)
    CAST(half, int16_t, CAST_NONE)
    CAST(int16_t, half, CAST_RINT)
    CAST(int16_t, int32_t, CAST_NONE)
    (void)ScalarCast<float, half, RoundMode::CAST_ODD>(1.0f);
    (void)ScalarCast<float, int32_t, RoundMode::CAST_ROUND>(1.0f);
#endif
#if __CCE_AICORE__ == 220
    CAST(float, int16_t, CAST_NONE)
    CAST(int16_t, float, CAST_ROUND)
    CAST(int32_t, bfloat16_t, CAST_FLOOR)
    CAST(float, bfloat16_t, CAST_NONE)
    CAST(bfloat16_t, float, CAST_RINT)
    CAST(float, float, CAST_TRUNC)
    CAST(int64_t, float, CAST_RINT)
    CAST(float, int64_t, CAST_RINT)
    CAST(int64_t, int32_t, CAST_NONE)
    CAST(int32_t, int64_t, CAST_NONE)
    (void)ToFloat(ToBfloat16(1.0f));
#endif
}

__aicore__ inline void comparisons(Operands& u) {
    const CMPMODE less = CMPMODE::LT;
#define COMPARE(T)                                                                               \
    Compare(u.mask<uint8_t>(), u.src0<T>(), u.src1<T>(), less, 128);                             \
    Compare(u.mask<uint8_t>(), u.src0<T>(), u.src1<T>(), less, uint64_t(16), 1,                  \
            BinaryRepeatParams());                                                               \
    Compare(u.mask<uint8_t>(), u.src0<T>(), u.src1<T>(), less, u.bits, 1, BinaryRepeatParams()); \
    Compare(u.src0<T>(), u.src1<T>(), less, uint64_t(16), BinaryRepeatParams());                 \
    Compare(u.src0<T>(), u.src1<T>(), less, u.bits, BinaryRepeatParams());
#define BY_REGISTER(T)                                                                         \
    Select(u.dst<T>(), u.mask<uint8_t>(), u.src0<T>(), u.src1<T>(), SELMODE::VSEL_CMPMASK_SPR, \
           uint64_t(16), 1, BinaryRepeatParams());                                             \
    Select(u.dst<T>(), u.mask<uint8_t>(), u.src0<T>(), u.src1<T>(), SELMODE::VSEL_CMPMASK_SPR, \
           u.bits, 1, BinaryRepeatParams());                                                   \
    SetCmpMask(u.mask<T>());                                                                   \
    Select<T, SELMODE::VSEL_CMPMASK_SPR>(u.dst<T>(), u.src0<T>(), u.src1<T>(), 1,              \
                                         BinaryRepeatParams());
    COMPARE(half)
    BY_REGISTER(half)
    COMPARE(float)
    BY_REGISTER(float)
#if __CCE_AICORE__ == 220
    Compare(u.mask<uint8_t>(), u.src0<int32_t>(), u.src1<int32_t>(), CMPMODE::EQ, 128);
    CompareScalar(u.mask<uint8_t>(), u.src0<int32_t>(), int32_t(1), CMPMODE::EQ, 128);
#endif
#if __CCE_AICORE__ != 100
#define COMPARE_SCALAR(T)                                                      \
    CompareScalar(u.mask<uint8_t>(), u.src0<T>(), T(1), less, 128);            \
    CompareScalar(u.mask<uint8_t>(), u.src0<T>(), T(1), less, uint64_t(16), 1, \
                  UnaryRepeatParams());                                        \
    CompareScalar(u.mask<uint8_t>(), u.src0<T>(), T(1), less, u.bits, 1, UnaryRepeatParams());
#define SELECT(T)                                                                              \
    Select(u.dst<T>(), u.mask<uint8_t>(), u.src0<T>(), u.src1<T>(),                            \
           SELMODE::VSEL_TENSOR_TENSOR_MODE, 64);                                              \
    Select(u.dst<T>(), u.mask<uint8_t>(), u.src0<T>(), T(1), SELMODE::VSEL_TENSOR_SCALAR_MODE, \
           64);                                                                                \
    Select(u.dst<T>(), u.mask<uint8_t>(), u.src0<T>(), T(1), SELMODE::VSEL_TENSOR_SCALAR_MODE, \
           uint64_t(16), 1, BinaryRepeatParams());                                             \
    Select(u.dst<T>(), u.mask<uint8_t>(), u.src0<T>(), T(1), SELMODE::VSEL_TENSOR_SCALAR_MODE, \
           u.bits, 1, BinaryRepeatParams());
    COMPARE_SCALAR(half)
    COMPARE_SCALAR(float)
    SELECT(half)
    SELECT(float)
    GetCmpMask(u.mask<uint8_t>());
#endif
}

__aicore__ inline void reductions(Operands& u) {
#define BLOCK_REDUCE(Name, T)                      \
    Name(u.dst<T>(), u.src0<T>(), 2, 16, 1, 1, 8); \
    Name(u.dst<T>(), u.src0<T>(), 2, u.bits, 1, 1, 8);
#define WHOLE_REDUCE(Name, T)                      \
    Name(u.dst<T>(), u.src0<T>(), 16, 2, 2, 1, 8); \
    Name(u.dst<T>(), u.src0<T>(), u.bits, 2, 2, 1, 8);
#define REDUCE(Name, T)                                        \
    Name(u.dst<T>(), u.src0<T>(), u.temporary<T>(), 512);      \
    Name(u.dst<T>(), u.src0<T>(), u.temporary<T>(), 16, 2, 8); \
    Name(u.dst<T>(), u.src0<T>(), u.temporary<T>(), u.bits, 2, 8);
#define REDUCTIONS(T)                                                                              \
    BLOCK_REDUCE(BlockReduceSum, T)                                                                \
    BLOCK_REDUCE(BlockReduceMax, T)                                                                \
    BLOCK_REDUCE(BlockReduceMin, T)                                                                \
    BLOCK_REDUCE(PairReduceSum, T) WHOLE_REDUCE(WholeReduceMax, T) WHOLE_REDUCE(WholeReduceMin, T) \
        REDUCE(ReduceSum, T) REDUCE(ReduceMax, T) REDUCE(ReduceMin, T)                             \
            RepeatReduceSum(u.dst<T>(), u.src0<T>(), 2, 16, 1, 1, 1, 8);
    REDUCTIONS(half)
    WHOLE_REDUCE(WholeReduceSum, half)
    WHOLE_REDUCE(WholeReduceSum, float)
#if __CCE_AICORE__ != 100
    REDUCTIONS(float)
#endif
#if __CCE_AICORE__ == 220
    WholeReduceMax(u.dst<float>(), u.src0<float>(), 64, 2, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);
    ReduceMax(u.dst<float>(), u.src0<float>(), u.temporary<float>(), 512, true);
    SetFlag<HardEvent::V_S>(EVENT_ID0);
    WaitFlag<HardEvent::V_S>(EVENT_ID0);
    float value = 0, index = 0;
    GetReduceMaxMinCount<float>(value, index);
    (void)GetAccVal<float>();
#endif
}

}  // namespace

extern "C" __global__ __aicore__ void conversion(GM_ADDR x, GM_ADDR, GM_ADDR) {
    TPipe pipe;
    Operands u;
    u.init(pipe, x);
    conversions(u);
    comparisons(u);
    reductions(u);
}
