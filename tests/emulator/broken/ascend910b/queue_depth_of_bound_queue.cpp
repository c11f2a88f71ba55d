// Two EnQue between the positions of a TQueBind of depth 1.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> through;
    pipe.InitBuffer(through, 2, 4096);
    auto a = through.AllocTensor<float>(), b = through.AllocTensor<float>();
    through.EnQue<TPosition::GM, TPosition::VECIN>(a);
    if (repaired) a = through.DeQue<TPosition::GM, TPosition::VECIN, float>();
    through.EnQue<TPosition::GM, TPosition::VECIN>(b);  // expect: queue-depth
    b = through.DeQue<TPosition::GM, TPosition::VECIN, float>();
    through.FreeTensor(a);
    through.FreeTensor(b);
}
