// A row of 50 is reduced as 64: the padding is garbage.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 2, 1024 * sizeof(float));
    pipe.InitBuffer(out, 2, 1024 * sizeof(float));
    auto source = global<float>(x);
    auto a = in.AllocTensor<float>();
    DataCopyExtParams params{1, 200, 0, 0, 0};
    DataCopyPadExtParams<float> pad{false, 0, 0, 0};
    DataCopyPad(a, source, params, pad);
    in.EnQue(a);
    a = in.DeQue<float>();
    auto b = out.AllocTensor<float>();
    WholeReduceSum(b, a, repaired ? 50 : 64, 1, 1, 1, 8);  // expect: uninitialized-read
    out.EnQue(b);
    b = out.DeQue<float>();
    out.FreeTensor(b);
    in.FreeTensor(a);
}
