// Two tensors carved out of a TBuf, the second beyond its end.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 4096);
    auto a = buffer.GetWithOffset<float>(512, 0);
    const uint32_t count = repaired ? 512 : 1024;
    auto b = buffer.GetWithOffset<float>(count, 2048);  // expect: ub-out-of-bounds
    Duplicate(a, 0.0f, 512);
    Duplicate(b, 0.0f, count);
}
