// Two cores add floats to one block.
#include "broken/broken.h"

BROKEN_KERNEL(2) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 32);
    auto t = buffer.Get<float>();
    Duplicate(t, 1.0f, 8);
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    SetAtomicAdd<float>();
    {
        const InTurn turn;
        const uint64_t at = repaired ? GetBlockIdx() * 8 : 0;
        DataCopy(global<float>(workspace)[at], t, 8);  // expect note: float-atomic-order
    }
    SetAtomicNone();
}
