// A buffer pool is larger than the one whose place it shares.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> first, buffer;
    TBufPool<TPosition::VECCALC> pool, other;
    pipe.InitBuffer(first, 188 * 1024);
    pipe.InitBufPool(pool, 4096);
    pipe.InitBufPool(other, repaired ? 4096 : 65536, pool);  // expect: ub-overflow
    other.InitBuffer(buffer, repaired ? 4096 : 32768);
    Duplicate(buffer.Get<float>(), 1.0f, 1024);
}
