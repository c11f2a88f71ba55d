// A shift by one block in place.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 4096);
    auto t = buffer.Get<float>();
    Duplicate(t, 1.0f, 1024);
    Adds(t[repaired ? 512 : 8], t, 1.0f, 512);  // expect: illegal-overlap
}
