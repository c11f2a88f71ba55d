// DataCopy drops the bytes beyond the last full 32-byte block.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 2, 1024 * sizeof(float));
    auto source = global<float>(x);
    auto a = in.AllocTensor<float>();
    DataCopy(a, source, repaired ? 1000 : 1001);  // expect: uncovered-length
    in.EnQue(a);
    a = in.DeQue<float>();
    in.FreeTensor(a);
}
