// The output tensor is freed to the input queue.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 2, 1024 * sizeof(float));
    pipe.InitBuffer(out, 2, 1024 * sizeof(float));
    auto target = global<float>(z);
    auto b = out.AllocTensor<float>();
    Duplicate(b, 1.0f, 1024);
    out.EnQue(b);
    b = out.DeQue<float>();
    DataCopy(target, b, 1024);
    if (repaired) return out.FreeTensor(b);
    in.FreeTensor(b);  // expect: queue-foreign-tensor
}
