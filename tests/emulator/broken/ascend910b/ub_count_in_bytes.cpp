// The count of a vector instruction is given in bytes.
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
    Muls(b, a, 2.0f, 1024 * (repaired ? 1 : sizeof(float)));  // expect: ub-out-of-bounds
    out.EnQue(b);
    in.FreeTensor(a);
    b = out.DeQue<float>();
    out.FreeTensor(b);
}
