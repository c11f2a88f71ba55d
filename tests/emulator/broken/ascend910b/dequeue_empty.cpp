// DeQue without EnQue.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 2, 1024 * sizeof(float));
    auto source = global<float>(x);
    auto a = in.AllocTensor<float>();
    DataCopy(a, source, 1024);
    if (repaired) in.EnQue(a);
    a = in.DeQue<float>();  // expect: queue-empty
    in.FreeTensor(a);
}
