// A pool from before TPipe::Reset gets a buffer after it.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    TBufPool<TPosition::VECCALC> pool;
    pipe.InitBufPool(pool, 4096);
    if (!repaired) pipe.Reset();
    pool.InitBuffer(buffer, 4096);  // expect: stale-tensor
}
