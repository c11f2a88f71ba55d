// A row without elements.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 256);
    const int32_t count = repaired ? 64 : 0;
    Duplicate(buffer.Get<float>(), 1.0f, count);  // expect note: zero-count
}
