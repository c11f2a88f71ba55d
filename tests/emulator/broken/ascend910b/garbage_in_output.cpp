// The tail of the output tile is stored without having been computed.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(out, 2, 1024 * sizeof(float));
    auto target = global<float>(z);
    auto b = out.AllocTensor<float>();
    Duplicate(b, 1.0f, repaired ? 1024 : 900);
    out.EnQue(b);
    b = out.DeQue<float>();
    DataCopy(target, b, 1024);  // expect: uninitialized-output
    out.FreeTensor(b);
}
