// A pool of one buffer gets two.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TBufPool<TPosition::VECCALC> pool;
    pipe.InitBufPool(pool, 4096);
    pool.InitBuffer(in, repaired ? 1 : 2, 4096);  // expect: ub-overflow
}
