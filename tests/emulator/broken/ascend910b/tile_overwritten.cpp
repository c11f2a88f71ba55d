// The next tile is loaded into a TBuf that the vector unit still reads.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer, result;
    pipe.InitBuffer(buffer, 4096);
    pipe.InitBuffer(result, 4096);
    auto t = buffer.Get<float>();
    auto sum = result.Get<float>();
    Duplicate(sum, 0.0f, 1024);
    for (int i = 0; i < 2; ++i) {
        if (repaired && i > 0) WaitFlag<HardEvent::V_MTE2>(0);
        DataCopy(t, global<float>(x), 1024);  // expect: missing-sync
        SetFlag<HardEvent::MTE2_V>(0);
        WaitFlag<HardEvent::MTE2_V>(0);
        Add(sum, sum, t, 1024);
        if (repaired && i == 0) SetFlag<HardEvent::V_MTE2>(0);
    }
}
