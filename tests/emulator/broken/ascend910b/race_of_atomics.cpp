// A core reads the sum to which another still adds.
#include "broken/broken.h"

BROKEN_KERNEL(2) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 64);
    auto t = buffer.Get<float>();
    auto sum = global<float>(workspace);
    Duplicate(t, 1.0f, 8);
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    SetAtomicAdd<float>();
    {
        const InTurn turn;
        DataCopy(sum, t, 8);
    }
    SetAtomicNone();
    SetFlag<HardEvent::MTE3_MTE2>(0);
    WaitFlag<HardEvent::MTE3_MTE2>(0);
    if (repaired) SyncAll();
    if (GetBlockIdx() == 1) DataCopy(t[8], sum, 8);  // expect: gm-race
}
