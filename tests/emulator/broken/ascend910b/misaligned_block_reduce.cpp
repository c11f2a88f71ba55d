// BlockReduceSum results of 8 floats are packed at an odd place.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 8192);
    auto t = buffer.Get<float>();
    Duplicate(t, 1.0f, 512);
    BlockReduceSum(t[repaired ? 1032 : 1028], t, 8, 64, 1, 1, 8);  // expect: misaligned
}
