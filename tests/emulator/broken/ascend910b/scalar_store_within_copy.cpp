// A copy reads more than what sits in the data cache.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 1, 4096);
    auto scratch = global<float>(workspace);
    scratch.SetValue(5, 1.0f);
    if (repaired) DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE>(scratch);
    SetFlag<HardEvent::S_MTE2>(0);
    WaitFlag<HardEvent::S_MTE2>(0);
    auto a = in.AllocTensor<float>();
    DataCopy(a, scratch, 1024);  // expect: gm-cache
    in.EnQue(a);
    a = in.DeQue<float>();
    in.FreeTensor(a);
}
