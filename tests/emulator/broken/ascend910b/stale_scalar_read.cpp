// A flag in GM is read again while its old value sits in the scalar unit's data cache.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(out, 1, 32);
    auto scratch = global<float>(workspace);
    float sum = scratch.GetValue(0);
    auto b = out.AllocTensor<float>();
    Duplicate(b, 1.0f, 8);
    out.EnQue(b);
    b = out.DeQue<float>();
    DataCopy(scratch, b, 8);
    SetFlag<HardEvent::MTE3_S>(0);
    WaitFlag<HardEvent::MTE3_S>(0);
    if (repaired) DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE>(scratch);
    sum += scratch.GetValue(0);  // expect: gm-cache
    out.FreeTensor(b);
    (void)sum;
}
