// A queue of more buffers than a TPipe takes.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, repaired ? 64 : 65, 32);  // expect: illegal-argument
}
