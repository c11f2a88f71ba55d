// The last tile is loaded at full size though the tensor ends inside it.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 2, 1024 * sizeof(float));
    auto source = global<float>(x);
    auto a = in.AllocTensor<float>();
    DataCopy(a, source[repaired ? 15360 : 15872], 1024);  // expect: gm-out-of-bounds
    in.EnQue(a);
    a = in.DeQue<float>();
    in.FreeTensor(a);
}
