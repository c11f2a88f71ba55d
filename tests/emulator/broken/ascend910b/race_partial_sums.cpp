// Core 0 sums the partial results with no SyncAll after the other cores' stores.
#include "broken/broken.h"

BROKEN_KERNEL(2) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 2, 1024 * sizeof(float));
    pipe.InitBuffer(out, 2, 1024 * sizeof(float));
    auto partials = global<float>(workspace);
    auto b = out.AllocTensor<float>();
    Duplicate(b, 1.0f, 1024);
    out.EnQue(b);
    b = out.DeQue<float>();
    DataCopy(partials[GetBlockIdx() * 1024], b, 1024);
    out.FreeTensor(b);
    SetFlag<HardEvent::MTE3_MTE2>(0);
    WaitFlag<HardEvent::MTE3_MTE2>(0);
    if (repaired) SyncAll();
    if (GetBlockIdx() == 0) {
        for (int core = 0; core < 2; ++core) {
            auto a = in.AllocTensor<float>();
            DataCopy(a, partials[core * 1024], 1024);  // expect: gm-race
            in.EnQue(a);
            a = in.DeQue<float>();
            in.FreeTensor(a);
        }
    }
}
