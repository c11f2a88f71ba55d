// The output is accumulated though nobody initialised it.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 2, 1024 * sizeof(float));
    auto target = global<float>(repaired ? x : z);
    auto a = in.AllocTensor<float>();
    DataCopy(a, target, 1024);  // expect: uninitialized-read
    in.EnQue(a);
    a = in.DeQue<float>();
    in.FreeTensor(a);
}
