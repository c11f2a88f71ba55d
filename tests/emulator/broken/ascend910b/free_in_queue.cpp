// A tile is given back without DeQue.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 2, 4096);
    auto a = in.AllocTensor<float>();
    DataCopy(a, global<float>(x), 1024);
    in.EnQue(a);
    if (repaired) a = in.DeQue<float>();
    in.FreeTensor(a);  // expect: queue-foreign-tensor
}
