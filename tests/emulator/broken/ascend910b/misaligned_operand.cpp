// A row of 50 floats is not a multiple of 32 bytes, so the second row is misaligned.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 4096);
    auto t = buffer.Get<float>();
    for (int row = 0; row < 4; ++row)
        Duplicate(t[row * (repaired ? 56 : 50)], 1.0f, 50);  // expect: misaligned
}
