// A scalar is read from a buffer that nobody filled.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 64);
    auto t = buffer.Get<float>();
    if (repaired) t.SetValue(3, 1.0f);
    const float bound = t.GetValue(3);  // expect: uninitialized-read
    SetFlag<HardEvent::S_V>(0);
    WaitFlag<HardEvent::S_V>(0);
    Duplicate(t, bound, 8);
}
