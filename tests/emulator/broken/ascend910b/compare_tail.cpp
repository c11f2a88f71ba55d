// Compare covers multiples of 256 bytes only.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> a, b;
    pipe.InitBuffer(a, 4096);
    pipe.InitBuffer(b, 4096);
    auto t = a.Get<float>();
    auto bits = b.Get<uint8_t>();
    Duplicate(t, 1.0f, 1024);
    Compare(bits, t, t, CMPMODE::LT, repaired ? 128 : 100);  // expect: uncovered-length
}
