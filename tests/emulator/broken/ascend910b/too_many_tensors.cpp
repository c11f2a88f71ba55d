// Nine tensors in flight at VECIN.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 10, 32);
    for (int i = 0; i < 10; ++i) in.AllocTensor<float>();  // expect: tensor-limit
}
