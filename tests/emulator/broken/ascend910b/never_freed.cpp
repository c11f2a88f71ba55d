// The output tensor is not given back.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(out, 2, 1024 * sizeof(float));
    auto target = global<float>(z);
    auto b = out.AllocTensor<float>();  // expect: queue-leak
    Duplicate(b, 1.0f, 1024);
    out.EnQue(b);
    b = out.DeQue<float>();
    DataCopy(target, b, 1024);
    if (repaired) out.FreeTensor(b);
}
