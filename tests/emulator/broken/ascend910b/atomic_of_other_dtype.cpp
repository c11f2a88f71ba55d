// Half data are added in the atomic mode of float.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(out, 1, 2048);
    auto b = out.AllocTensor<half>();
    Duplicate(b, half(1.0f), 1024);
    out.EnQue(b);
    b = out.DeQue<half>();
    if (repaired) {
        SetAtomicAdd<half>();
    } else {
        SetAtomicAdd<float>();
    }
    DataCopy(global<half>(workspace), b, 1024);  // expect: atomic-dtype
    SetAtomicNone();
    out.FreeTensor(b);
}
