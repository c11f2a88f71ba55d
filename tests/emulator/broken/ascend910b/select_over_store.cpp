// Select mode 1 uses the top 8 KiB while they are still stored from.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer, mask, top;
    pipe.InitBuffer(buffer, 180 * 1024);
    pipe.InitBuffer(mask, 4 * 1024);
    pipe.InitBuffer(top, 8 * 1024);
    auto t = buffer.Get<float>();
    auto bits = mask.Get<uint8_t>();
    auto results = top.Get<float>();
    Duplicate(results, 3.0f, 1024);
    Duplicate(t, 1.0f, 1024);
    CompareScalar(bits, t, 0.5f, CMPMODE::GT, 1024);
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    DataCopy(global<float>(z), results, 1024);
    if (repaired) {
        SetFlag<HardEvent::MTE3_V>(0);
        WaitFlag<HardEvent::MTE3_V>(0);
    }
    const auto mode = SELMODE::VSEL_TENSOR_SCALAR_MODE;
    Select(t, bits, t, 0.0f, mode, 1024);  // expect: missing-sync
}
