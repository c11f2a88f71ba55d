// A copy within UB moves one block onto a part of itself.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 8192);
    auto t = buffer.Get<float>();
    Duplicate(t, 1.0f, 2048);
    DataCopy(t[repaired ? 512 : 8], t, 512);  // expect: illegal-overlap
}
