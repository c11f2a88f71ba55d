// The flag that is waited for is not the one that was set.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 4096);
    auto t = buffer.Get<float>();
    DataCopy(t, global<float>(x), 1024);
    SetFlag<HardEvent::MTE2_V>(0);
    WaitFlag<HardEvent::MTE2_V>(repaired ? 0 : 1);  // expect: event-wait-without-set
    Muls(t, t, 2.0f, 1024);
}
