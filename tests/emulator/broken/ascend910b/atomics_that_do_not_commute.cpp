// One core adds where another takes the maximum.
#include "broken/broken.h"

BROKEN_KERNEL(2) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 32);
    auto t = buffer.Get<float>();
    Duplicate(t, 1.0f, 8);
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    if (repaired || GetBlockIdx() == 0)
        SetAtomicAdd<float>();
    else
        SetAtomicMax<float>();
    {
        const InTurn turn;
        DataCopy(global<float>(workspace), t, 8);  // expect: gm-race
    }
    SetAtomicNone();
}
