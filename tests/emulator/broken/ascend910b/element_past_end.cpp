// The scalar unit reads the element behind the last one.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 256);
    auto t = buffer.Get<float>();
    Duplicate(t, 1.0f, 64);
    SetFlag<HardEvent::V_S>(0);
    WaitFlag<HardEvent::V_S>(0);
    const float last = t.GetValue(repaired ? 63 : 64);  // expect: ub-out-of-bounds
    (void)last;
}
