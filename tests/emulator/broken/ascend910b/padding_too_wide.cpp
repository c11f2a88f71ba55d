// Padding of more than 32 bytes.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 2, 1024 * sizeof(float));
    auto source = global<float>(x);
    auto a = in.AllocTensor<float>();
    DataCopyExtParams params{1, 96, 0, 0, 0};
    const uint8_t right = repaired ? 8 : 12;
    DataCopyPadExtParams<float> pad{true, 0, right, 0};
    DataCopyPad(a, source, params, pad);  // expect: illegal-argument
    in.EnQue(a);
    a = in.DeQue<float>();
    in.FreeTensor(a);
}
