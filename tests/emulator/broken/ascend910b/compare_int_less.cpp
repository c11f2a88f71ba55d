// int32 has equality only.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> a, b;
    pipe.InitBuffer(a, 256);
    pipe.InitBuffer(b, 256);
    auto t = a.Get<int32_t>();
    Duplicate(t, 1, 64);
    const auto mode = repaired ? CMPMODE::EQ : CMPMODE::LT;
    Compare(b.Get<uint8_t>(), t, t, mode, 64);  // expect: unsupported
}
