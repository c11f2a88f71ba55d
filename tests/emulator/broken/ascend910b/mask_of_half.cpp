// A mask for half elements is used on floats.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 8192);
    auto t = buffer.Get<float>();
    Duplicate(t, 1.0f, repaired ? 64 : 128, 2, 1, 8);  // expect: illegal-mask
}
