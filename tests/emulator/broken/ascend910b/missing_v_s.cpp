// A scalar read of a vector result without waiting.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 4096);
    auto t = buffer.Get<float>();
    Duplicate(t, 1.0f, 64);
    if (repaired) {
        SetFlag<HardEvent::V_S>(0);
        WaitFlag<HardEvent::V_S>(0);
    }
    const float value = t.GetValue(0);  // expect: missing-sync
    Muls(t, t, value, 64);
}
