// An in-place prefix where each repeat reads the one before.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 8192);
    auto t = buffer.Get<float>();
    Duplicate(t, 1.0f, 1024);
    Muls(t[repaired ? 256 : 64], t, 2.0f, 64, 4, {1, 1, 8, 8});  // expect: illegal-overlap
}
