// A scalar store to GM is read by MTE2 while it sits in the data cache.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 2, 1024 * sizeof(float));
    auto scratch = global<float>(workspace);
    scratch.SetValue(0, 1.0f);
    if (repaired) DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE>(scratch);
    SetFlag<HardEvent::S_MTE2>(0);
    WaitFlag<HardEvent::S_MTE2>(0);
    auto a = in.AllocTensor<float>();
    DataCopy(a, scratch, 8);  // expect: gm-cache
    in.EnQue(a);
    a = in.DeQue<float>();
    in.FreeTensor(a);
}
