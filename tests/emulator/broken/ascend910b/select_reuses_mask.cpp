// Select mode 0 over two repeats with the bits of one.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer, mask;
    pipe.InitBuffer(buffer, 512);
    pipe.InitBuffer(mask, 32);
    auto t = buffer.Get<float>();
    auto bits = mask.Get<uint8_t>();
    Duplicate(t, 1.0f, 128);
    CompareScalar(bits, t, 0.5f, CMPMODE::GT, 128);
    const auto mode = SELMODE::VSEL_CMPMASK_SPR;
    Select(t, bits, t, t, mode, repaired ? 64 : 128);  // expect note: select-mask-reused
}
