// The mode of Select is for a scalar where there is a tensor.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer, mask;
    pipe.InitBuffer(buffer, 256);
    pipe.InitBuffer(mask, 32);
    auto t = buffer.Get<float>();
    auto bits = mask.Get<uint8_t>();
    Duplicate(t, 1.0f, 64);
    CompareScalar(bits, t, 0.5f, CMPMODE::GT, 64);
    const auto mode =
        repaired ? SELMODE::VSEL_TENSOR_TENSOR_MODE : SELMODE::VSEL_TENSOR_SCALAR_MODE;
    Select(t, bits, t, t, mode, 64);  // expect: illegal-argument
}
