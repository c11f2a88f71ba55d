// Sums of all repeats at one place.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> a, b;
    pipe.InitBuffer(a, 512);
    pipe.InitBuffer(b, 32);
    auto t = a.Get<half>();
    Duplicate(t, half(1.0f), 256);
    WholeReduceSum(b.Get<half>(), t, 128, 2, repaired, 1, 8);  // expect: illegal-stride
}
