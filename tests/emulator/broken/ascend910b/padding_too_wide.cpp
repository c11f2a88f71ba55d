// Padding of more than 32 bytes.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 2, 1024 * sizeof(float));
    auto source = global<float>(x);
    auto a = in.AllocTensor<float>();
    DataCopyExtParams params{1, 96, 0, 0, 0};
    DataCopyPadExtParams<float> pad{true, 0, 12, 0};
    DataCopyPad(a, source, params, pad);  // expect: illegal-argument
    in.EnQue(a);
}
