// The third tile waits for a buffer that is never freed.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 2, 1024 * sizeof(float));
    auto source = global<float>(x);
    for (int i = 0; i < 3; ++i) {
        auto a = in.AllocTensor<float>();  // expect: queue-deadlock
        DataCopy(a, source[i * 1024], 1024);
        in.EnQue(a);
        a = in.DeQue<float>();
        if (repaired) in.FreeTensor(a);
    }
}
