// Atomic addition to an output that was not zeroed.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(out, 2, 1024 * sizeof(float));
    auto target = global<float>(repaired ? workspace : z);
    auto b = out.AllocTensor<float>();
    Duplicate(b, 1.0f, 1024);
    out.EnQue(b);
    b = out.DeQue<float>();
    SetAtomicAdd<float>();
    DataCopy(target, b, 1024);  // expect: uninitialized-read
    SetAtomicNone();
    out.FreeTensor(b);
}
