// The spellings of CANN 9.x that rename what 8.1 has.
#include "operands.h"

extern "C" __global__ __aicore__ void renamed(GM_ADDR x, GM_ADDR, GM_ADDR) {
    TPipe pipe;
    Operands u;
    u.init(pipe, x);
    ReduceRepeat<ReduceType::SUM, half, half>(u.dst<half>(), u.src0<half>(), 16, 2, 2, 1, 8);
    ReduceRepeat<ReduceType::MAX, half, half>(u.dst<half>(), u.src0<half>(), u.bits, 2, 2, 1, 8);
    ReduceDataBlock<ReduceType::MIN, half, half>(u.dst<half>(), u.src0<half>(), 16, 2, 1, 1, 8);
    ReducePairElem<ReduceType::SUM, half, half>(u.dst<half>(), u.src0<half>(), 16, 2, 1, 1, 8);
#if __CCE_AICORE__ != 100
    Compares(u.mask<uint8_t>(), u.src0<half>(), half(1), CMPMODE::LT, 128);
    Compares(u.mask<uint8_t>(), u.src0<half>(), half(1), CMPMODE::LT, uint64_t(16), 1,
             UnaryRepeatParams());
    Compares(u.mask<uint8_t>(), u.src0<half>(), half(1), CMPMODE::LT, u.bits, 1,
             UnaryRepeatParams());
#endif
    DisableDmaAtomic();
    (void)GetTaskRatio();
}
