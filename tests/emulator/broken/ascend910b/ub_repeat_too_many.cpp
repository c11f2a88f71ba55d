// One repeat more than the buffer holds.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 1024);
    auto t = buffer.Get<float>();
    Duplicate(t, 0.0f, 64, repaired ? 4 : 5, 1, 8);  // expect: ub-out-of-bounds
}
