// Two stores of one core overlap with no PipeBarrier<PIPE_MTE3>.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(out, 2, 1024 * sizeof(float));
    auto target = global<float>(z);
    for (int i = 0; i < 2; ++i) {
        auto b = out.AllocTensor<float>();
        Duplicate(b, 1.0f, 1024);
        out.EnQue(b);
        b = out.DeQue<float>();
        DataCopy(target[i * (repaired ? 1024 : 1016)], b, 1024);  // expect: missing-sync
        out.FreeTensor(b);
    }
}
