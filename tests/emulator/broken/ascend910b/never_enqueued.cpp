// A tensor that turns out not to be needed is not given back.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 2, 4096);
    auto a = in.AllocTensor<float>();  // expect: queue-leak
    if (repaired) in.FreeTensor(a);
}
