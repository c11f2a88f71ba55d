// A sum of floats, which the manual does not promise.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> a, b;
    pipe.InitBuffer(a, 256);
    pipe.InitBuffer(b, 32);
    auto t = a.Get<float>();
    Duplicate(t, 1.0f, 64);
    if (!repaired)
        WholeReduceSum(b.Get<float>(), t, 64, 1, 1, 1, 8);  // expect note: reduce-float-910
}
