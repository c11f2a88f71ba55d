// SetAtomicNone is missing.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(out, 1, 4096);
    auto b = out.AllocTensor<float>();
    Duplicate(b, 1.0f, 1024);
    out.EnQue(b);
    b = out.DeQue<float>();
    SetAtomicAdd<float>();  // expect: atomic-left-on
    DataCopy(global<float>(workspace), b, 1024);
    if (repaired) SetAtomicNone();
    out.FreeTensor(b);
}
