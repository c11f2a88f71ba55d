// Select takes bits one after the other on other products only.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer, mask;
    pipe.InitBuffer(buffer, 256);
    pipe.InitBuffer(mask, 32);
    auto t = buffer.Get<float>();
    auto bits = mask.Get<uint8_t>();
    Duplicate(t, 1.0f, 64);
    Compare(bits, t, t, CMPMODE::EQ, 64);
    const auto mode = repaired ? SELMODE::VSEL_CMPMASK_SPR : SELMODE::VSEL_TENSOR_TENSOR_MODE;
    Select(t, bits, t, t, mode, 64);  // expect: unsupported
}
