// Nine tensors in flight at VECIN.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 10, 32);
    LocalTensor<float> held[10];
    for (int i = 0; i < (repaired ? 8 : 10); ++i)
        held[i] = in.AllocTensor<float>();  // expect: tensor-limit
    for (int i = 0; i < 8; ++i) in.FreeTensor(held[i]);
}
