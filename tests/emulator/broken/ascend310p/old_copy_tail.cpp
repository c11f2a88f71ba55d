// Without DataCopyPad the tail of a row is silently not loaded.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 2, 1024 * sizeof(float));
    auto source = global<float>(x);
    auto a = in.AllocTensor<float>();
    DataCopy(a, source, repaired ? 56 : 50);  // expect: uncovered-length
    in.EnQue(a);
    a = in.DeQue<float>();
    in.FreeTensor(a);
}
