// What a reduction leaves in its work tensor is taken for data.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> data, scratch;
    pipe.InitBuffer(data, 4096);
    pipe.InitBuffer(scratch, 4096);
    auto d = data.Get<float>();
    auto work = scratch.Get<float>();
    Duplicate(d, 1.0f, 1024);
    ReduceSum(d[1016], d, work, 512);
    if (repaired) Duplicate(work, 0.0f, 8);
    Adds(d[512], work, 1.0f, 8);  // expect: uninitialized-read
}
