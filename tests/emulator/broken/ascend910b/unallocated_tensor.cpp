// A member tensor that was never assigned.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 32);
    LocalTensor<float> t;
    if (repaired) t = buffer.Get<float>();
    Duplicate(t, 0.0f, 8);  // expect: unallocated-tensor
}
