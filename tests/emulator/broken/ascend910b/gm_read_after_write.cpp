// The workspace is read back without MTE3 -> MTE2.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 2, 1024 * sizeof(float));
    pipe.InitBuffer(out, 2, 1024 * sizeof(float));
    auto scratch = global<float>(workspace);
    auto b = out.AllocTensor<float>();
    Duplicate(b, 1.0f, 1024);
    out.EnQue(b);
    b = out.DeQue<float>();
    DataCopy(scratch, b, 1024);
    out.FreeTensor(b);
    if (repaired) {
        SetFlag<HardEvent::MTE3_MTE2>(0);
        WaitFlag<HardEvent::MTE3_MTE2>(0);
    }
    auto a = in.AllocTensor<float>();
    DataCopy(a, scratch, 1024);  // expect: missing-sync
    in.EnQue(a);
    a = in.DeQue<float>();
    in.FreeTensor(a);
}
