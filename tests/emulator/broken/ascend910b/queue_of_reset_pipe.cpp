// A queue from before TPipe::Reset is used after it.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 1, 4096);
    pipe.Reset();
    if (repaired) pipe.InitBuffer(in, 1, 4096);
    auto a = in.AllocTensor<float>();  // expect: stale-tensor
    in.FreeTensor(a);
}
