// InitBuffer was forgotten for one queue.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    if (repaired) pipe.InitBuffer(in, 1, 32);
    auto a = in.AllocTensor<float>();  // expect: queue-not-initialized
    in.FreeTensor(a);
}
