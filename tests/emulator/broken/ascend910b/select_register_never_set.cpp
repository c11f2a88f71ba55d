// Select by the compare-mask register before any Compare has set it.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    auto a = buffer.Get<float>();
    auto b = a[64];
    Duplicate(a, 1.0f, 128);
    if (repaired) Compare(a, b, CMPMODE::LT, 64, BinaryRepeatParams());
    constexpr auto mode = SELMODE::VSEL_CMPMASK_SPR;
    Select<float, mode>(a, a, b, 1, BinaryRepeatParams());  // expect: uninitialized-read
}
