// The sums of the first repeats lie where later repeats read.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 4096);
    auto t = buffer.Get<float>();
    Duplicate(t, 1.0f, 1024);
    WholeReduceSum(t[repaired ? 0 : 448], t, 64, 8, 1, 1, 8);  // expect: illegal-overlap
}
