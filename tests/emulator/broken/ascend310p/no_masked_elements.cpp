// The mask register names no elements.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 256);
    auto t = buffer.Get<float>();
    Duplicate(t, 1.0f, 64);
    SetVectorMask<float>(0, repaired ? 255 : 0);
    const UnaryRepeatParams rows;
    Muls<float, false>(t, t, 2.0f, MASK_PLACEHOLDER, 1, rows);  // expect note: zero-count
    ResetMask();
}
