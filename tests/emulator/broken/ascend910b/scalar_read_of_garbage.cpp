// A scalar is read from a buffer that nobody filled.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 64);
    auto t = buffer.Get<float>();
    const float bound = t.GetValue(3);  // expect: uninitialized-read
    Duplicate(t, bound, 8);
}
