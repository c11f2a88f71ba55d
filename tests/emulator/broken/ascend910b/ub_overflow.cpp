// Three double-buffered queues of 40 KiB do not fit in 192 KiB.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> a, b;
    TQue<TPosition::VECOUT, 1> c;
    pipe.InitBuffer(a, 2, 40 * 1024);
    pipe.InitBuffer(b, 2, 40 * 1024);
    pipe.InitBuffer(c, 2, (repaired ? 16 : 40) * 1024);  // expect: ub-overflow
}
