// The vector unit reads what MTE2 is still loading.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 8192);
    auto t = buffer.Get<float>();
    DataCopy(t, global<float>(x), 1024);
    if (repaired) {
        SetFlag<HardEvent::MTE2_V>(0);
        WaitFlag<HardEvent::MTE2_V>(0);
    }
    Muls(t, t, 2.0f, 1024);  // expect: missing-sync
}
