// The mask register counts no elements.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 256);
    auto t = buffer.Get<float>();
    Duplicate(t, 1.0f, 64);
    SetMaskCount();
    SetVectorMask<float, MaskMode::COUNTER>(repaired ? 64 : 0);
    const UnaryRepeatParams rows;
    Muls<float, false>(t, t, 2.0f, MASK_PLACEHOLDER, 1, rows);  // expect note: zero-count
    SetMaskNorm();
    ResetMask();
}
