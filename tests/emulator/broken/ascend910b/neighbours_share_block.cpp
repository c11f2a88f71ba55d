// Rows of 4 floats, a core each: right on this product, but slow.
#include "broken/broken.h"

BROKEN_KERNEL(2) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 32);
    auto t = buffer.Get<float>();
    Duplicate(t, 1.0f, 8);
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    const DataCopyExtParams row{1, 16, 0, 0, 0};
    const InTurn turn;
    const auto target = global<float>(z)[GetBlockIdx() * (repaired ? 8 : 4)];
    DataCopyPad(target, t, row);  // expect note: gm-block-shared
}
