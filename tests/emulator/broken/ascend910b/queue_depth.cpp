// Two EnQue on a queue of depth 1.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 2, 1024 * sizeof(float));
    auto source = global<float>(x);
    auto a = in.AllocTensor<float>();
    DataCopy(a, source, 1024);
    in.EnQue(a);
    if (repaired) a = in.DeQue<float>();
    auto b = in.AllocTensor<float>();
    DataCopy(b, source[1024], 1024);
    in.EnQue(b);  // expect: queue-depth
    b = in.DeQue<float>();
    in.FreeTensor(a);
    in.FreeTensor(b);
}
