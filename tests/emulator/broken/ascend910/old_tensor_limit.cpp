// Five tensors in flight at VECIN.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 5, 32);
    LocalTensor<float> held[5];
    for (int i = 0; i < (repaired ? 4 : 5); ++i)
        held[i] = in.AllocTensor<float>();  // expect: tensor-limit
    for (int i = 0; i < 4; ++i) in.FreeTensor(held[i]);
}
