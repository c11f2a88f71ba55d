// Brcb with a block stride of 0.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> a, b;
    pipe.InitBuffer(a, 256);
    pipe.InitBuffer(b, 4096);
    Duplicate(a.Get<float>(), 1.0f, 8);
    const uint16_t stride = repaired;
    Brcb(b.Get<float>(), a.Get<float>(), 1, BrcbRepeatParams{stride, 8});  // expect: illegal-stride
}
