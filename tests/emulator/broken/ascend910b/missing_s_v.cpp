// A vector instruction reads what SetValue wrote without waiting.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 4096);
    auto t = buffer.Get<float>();
    for (int i = 0; i < 64; ++i) t.SetValue(i, static_cast<float>(i));
    if (repaired) {
        SetFlag<HardEvent::S_V>(0);
        WaitFlag<HardEvent::S_V>(0);
    }
    Muls(t, t, 2.0f, 64);  // expect: missing-sync
}
