// A copy stores into a line that the data cache will write back.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 32);
    auto t = buffer.Get<float>();
    Duplicate(t, 1.0f, 8);
    auto scratch = global<float>(workspace);
    scratch.SetValue(0, 1.0f);
    if (repaired) DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE>(scratch);
    PipeBarrier<PIPE_ALL>();
    DataCopy(scratch[8], t, 8);  // expect: gm-cache
}
