// The sum of the first block lies where the second one is still to be summed.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 4096);
    auto t = buffer.Get<float>();
    Duplicate(t, 1.0f, 1024);
    BlockReduceSum(t[repaired ? 0 : 8], t, 1, 64, 1, 1, 8);  // expect: illegal-overlap
}
