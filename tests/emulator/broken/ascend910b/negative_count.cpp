// A tail length computed one tile too late.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 4096);
    auto t = buffer.Get<float>();
    const int32_t rest = repaired ? 128 - 100 : 100 - 128;
    Duplicate(t, 1.0f, rest);  // expect: illegal-count
}
