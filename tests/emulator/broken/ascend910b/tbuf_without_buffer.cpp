// A TBuf that InitBuffer never saw.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    if (repaired) pipe.InitBuffer(buffer, 4096);
    Duplicate(buffer.Get<float>(), 1.0f, 64);  // expect: queue-not-initialized
}
