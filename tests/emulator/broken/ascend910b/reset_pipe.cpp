// A tensor from before TPipe::Reset is used after it.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 4096);
    auto t = buffer.Get<float>();
    Duplicate(t, 0.0f, 64);
    if (!repaired) pipe.Reset();
    Muls(t, t, 2.0f, 64);  // expect: stale-tensor
}
