// A buffer in the top 8 KiB is lost when Brcb uses them.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer, top;
    pipe.InitBuffer(buffer, 248 * 1024);
    pipe.InitBuffer(top, 8 * 1024);
    auto t = buffer.Get<float>();
    auto weights = top.Get<float>();
    Duplicate(weights, 3.0f, 64);
    Duplicate(t, 1.0f, 64);
    Brcb(t[64], t, 1, BrcbRepeatParams{1, 8});
    if (repaired) Duplicate(weights, 3.0f, 64);
    Mul(t, t, weights, 64);  // expect: reserved-ub
}
