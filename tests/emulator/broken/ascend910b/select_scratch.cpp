// A buffer in the top 8 KiB is lost when Select mode 1 uses them.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer, mask, top;
    pipe.InitBuffer(buffer, 180 * 1024);
    pipe.InitBuffer(mask, 4 * 1024);
    pipe.InitBuffer(top, 8 * 1024);
    auto t = buffer.Get<float>();
    auto bits = mask.Get<uint8_t>();
    auto weights = top.Get<float>();
    Duplicate(weights, 3.0f, 1024);
    Duplicate(t, 1.0f, 1024);
    CompareScalar(bits, t, 0.5f, CMPMODE::GT, 1024);
    Select(t, bits, t, 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 1024);
    if (repaired) Duplicate(weights, 3.0f, 1024);
    Mul(t, t, weights, 1024);  // expect: reserved-ub
}
