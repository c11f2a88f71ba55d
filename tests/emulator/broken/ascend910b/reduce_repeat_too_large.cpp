// WholeReduceSum over more repeats than one instruction takes.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 128 * 1024);
    auto t = buffer.Get<float>();
    Duplicate(t, 1.0f, 300 * 64);
    WholeReduceSum(t[300 * 64], t, 64, repaired ? 255 : 300, 1, 1, 8);  // expect: illegal-repeat
}
