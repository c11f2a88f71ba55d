// A slice of the allocated tensor is enqueued.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 2, 1024 * sizeof(float));
    auto source = global<float>(x);
    auto a = in.AllocTensor<float>();
    DataCopy(a[512], source, 512);
    in.EnQue(repaired ? a : a[512]);  // expect: queue-foreign-tensor
    a = in.DeQue<float>();
    in.FreeTensor(a);
}
