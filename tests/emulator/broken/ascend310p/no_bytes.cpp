// A copy of no elements.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 256);
    const uint32_t count = repaired ? 64 : 0;
    DataCopy(buffer.Get<float>(), global<float>(x), count);  // expect note: zero-count
}
