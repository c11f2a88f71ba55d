// The input tensor is freed before its last use.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 2, 1024 * sizeof(float));
    pipe.InitBuffer(out, 2, 1024 * sizeof(float));
    auto source = global<float>(x);
    auto a = in.AllocTensor<float>();
    DataCopy(a, source, 1024);
    in.EnQue(a);
    a = in.DeQue<float>();
    auto b = out.AllocTensor<float>();
    if (!repaired) in.FreeTensor(a);
    Add(b, a, a, 1024);  // expect: use-after-free
    out.EnQue(b);
    b = out.DeQue<float>();
    out.FreeTensor(b);
    in.FreeTensor(a);
}
