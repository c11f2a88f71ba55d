// More blocks than one DataCopyPad takes.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 2, 1024 * sizeof(float));
    auto source = global<float>(x);
    auto a = in.AllocTensor<float>();
    DataCopyExtParams params{repaired ? uint16_t(128) : uint16_t(5000), 4, 0, 0, 0};
    DataCopyPadExtParams<float> pad{false, 0, 0, 0};
    DataCopyPad(a, source, params, pad);  // expect: illegal-count
    in.EnQue(a);
    a = in.DeQue<float>();
    in.FreeTensor(a);
}
