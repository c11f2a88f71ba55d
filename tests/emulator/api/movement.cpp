// Copies, atomics, and rearranging in UB, in all call forms and element types.
#include "operands.h"

namespace {

template <typename T>
__aicore__ inline GlobalTensor<T> global(GM_ADDR p) {
    GlobalTensor<T> t;
    t.SetGlobalBuffer((__gm__ T*)p, 8192 / sizeof(T));
    return t;
}

__aicore__ inline void copies(Operands& u, GM_ADDR x, GM_ADDR z) {
    auto source = global<float>(x), target = global<float>(z);
    DataCopy(u.dst<float>(), source, 64);
    PipeBarrier<PIPE_MTE2>();
    DataCopy(u.dst<float>(), source, DataCopyParams(2, 4, 1, 1));
    PipeBarrier<PIPE_ALL>();
    DataCopy(u.dst<float>(), u.src0<float>(), 64);
    DataCopy(u.dst<float>(), u.src0<float>(), DataCopyParams(2, 4, 1, 1));
    PipeBarrier<PIPE_ALL>();
    DataCopy(target, u.dst<float>(), 64);
    PipeBarrier<PIPE_MTE3>();
    DataCopy(target, u.dst<float>(), DataCopyParams(2, 4, 1, 1));
    PipeBarrier<PIPE_ALL>();
#if __CCE_AICORE__ == 220
    DataCopyPad(u.dst<float>(), source, DataCopyExtParams(2, 20, 4, 0, 0),
                DataCopyPadExtParams<float>(true, 1, 2, 1.0f));
    PipeBarrier<PIPE_MTE2>();
    DataCopyPad(u.dst<float>(), source, DataCopyParams(2, 20, 4, 0),
                DataCopyPadParams(true, 1, 2, 0));
    PipeBarrier<PIPE_ALL>();
    DataCopyPad(target, u.dst<float>(), DataCopyExtParams(2, 20, 0, 4, 0));
    PipeBarrier<PIPE_MTE3>();
    DataCopyPad(target, u.dst<float>(), DataCopyParams(2, 20, 0, 4));
    PipeBarrier<PIPE_MTE3>();
#endif
    InitOutput<float>(target, 64, 1.0f);
    PipeBarrier<PIPE_ALL>();
}

__aicore__ inline void atomics(Operands& u, GM_ADDR z) {
#define ATOMIC(Mode, T)                      \
    PipeBarrier<PIPE_ALL>();                 \
    Mode<T>();                               \
    DataCopy(global<T>(z), u.src0<T>(), 64); \
    SetAtomicNone();
    ATOMIC(SetAtomicAdd, float)
#if __CCE_AICORE__ != 100
    ATOMIC(SetAtomicAdd, half)
    ATOMIC(SetAtomicAdd, int16_t)
#endif
#if __CCE_AICORE__ == 220
    ATOMIC(SetAtomicAdd, bfloat16_t)
    ATOMIC(SetAtomicAdd, int32_t)
    ATOMIC(SetAtomicAdd, int8_t)
#define EXTREMES(T) ATOMIC(SetAtomicMax, T) ATOMIC(SetAtomicMin, T)
    EXTREMES(float)
    EXTREMES(half)
    EXTREMES(bfloat16_t)
    EXTREMES(int32_t)
    EXTREMES(int16_t)
    EXTREMES(int8_t)
#endif
    PipeBarrier<PIPE_ALL>();
}

__aicore__ inline void rearranging(Operands& u) {
#define TRANSPOSE(T) Transpose(u.dst<T>(), u.src0<T>());
    TRANSPOSE(half)
    TRANSPOSE(int16_t)
    TRANSPOSE(uint16_t)
#define TO_5HD(T)                                                          \
    {                                                                      \
        LocalTensor<T> to[16], from[16];                                   \
        uint64_t toAddress[16], fromAddress[16];                           \
        for (uint32_t i = 0; i < 16; ++i) {                                \
            to[i] = u.dst<T>()[i * 32 / sizeof(T)];                        \
            from[i] = u.src0<T>()[i * 32 / sizeof(T)];                     \
            toAddress[i] = (uint64_t)to[i].GetPhyAddr();                   \
            fromAddress[i] = (uint64_t)from[i].GetPhyAddr();               \
        }                                                                  \
        TransDataTo5HD<T>(to, from, TransDataTo5HDParams());               \
        TransDataTo5HD<T>(toAddress, fromAddress, TransDataTo5HDParams()); \
    }
    TO_5HD(int8_t)
    TO_5HD(uint8_t)
    TO_5HD(half)
    TO_5HD(int16_t)
    TO_5HD(uint16_t)
#if __CCE_AICORE__ != 100
    TO_5HD(float)
    TO_5HD(int32_t)
    TO_5HD(uint32_t)
    Duplicate(u.offsets(), uint32_t(64), 2048);
    uint64_t count = 0;
#define GATHER(T)                                                                          \
    Gather(u.dst<T>(), u.src0<T>(), u.offsets(), 32, 64);                                  \
    Gather(u.dst<T>(), u.src0<T>(), u.offsets(), 32, uint64_t(16), 1, 8);                  \
    Gather(u.dst<T>(), u.src0<T>(), u.offsets(), 32, u.bits, 1, 8);                        \
    GatherMask(u.dst<T>(), u.src0<T>(), 1, false, 0, GatherMaskParams(1, 1, 8, 0), count); \
    Brcb(u.dst<T>(), u.src0<T>(), 2, BrcbRepeatParams(1, 8));
    GATHER(half)
    GATHER(int16_t)
    GATHER(uint16_t)
    GATHER(float)
    GATHER(int32_t)
    GATHER(uint32_t)
    GatherMask(u.dst<float>(), u.src0<float>(), u.mask<uint32_t>(), true, 16,
               GatherMaskParams(1, 1, 8, 0), count);
    (void)GetGatherMaskRemainCount();
    const uint32_t to[] = {16, 64}, row[] = {1, 64}, column[] = {16, 1};
    auto temporary = u.temporary<uint8_t>();
    Broadcast<float, 2, 0>(u.dst<float>(), u.src0<float>(), to, row);
    Broadcast<half, 2, 1>(u.dst<half>(), u.src0<half>(), to, column, temporary);
#endif
#if __CCE_AICORE__ == 220
    GATHER(bfloat16_t)
#define GATHER_BLOCKS(T) Gatherb(u.dst<T>(), u.src0<T>(), u.offsets(), 1, GatherRepeatParams(1, 8));
    GATHER_BLOCKS(uint16_t)
    GATHER_BLOCKS(uint32_t)
#endif
#if __CCE_AICORE__ == 200
#define SCATTER(T)                                                         \
    Scatter(u.dst<T>(), u.src0<T>(), u.offsets(), 32, 64);                 \
    Scatter(u.dst<T>(), u.src0<T>(), u.offsets(), 32, uint64_t(16), 1, 8); \
    Scatter(u.dst<T>(), u.src0<T>(), u.offsets(), 32, u.bits, 1, 8);
    SCATTER(half)
    SCATTER(int16_t)
    SCATTER(uint16_t)
    SCATTER(float)
    SCATTER(int32_t)
    SCATTER(uint32_t)
#endif
}

}  // namespace

extern "C" __global__ __aicore__ void movement(GM_ADDR x, GM_ADDR z, GM_ADDR) {
    TPipe pipe;
    Operands u;
    u.init(pipe, x);
    copies(u, x, z);
    atomics(u, z);
    rearranging(u);
}
