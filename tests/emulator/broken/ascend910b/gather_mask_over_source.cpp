// What GatherMask packs of the first repeat lies where the next one reads.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 4096);
    auto t = buffer.Get<float>();
    Duplicate(t, 1.0f, 1024);
    const auto to = t[repaired ? 0 : 64];
    const GatherMaskParams rows = {1, 8, 8, 0};
    uint64_t count = 0;
    GatherMask(to, t, uint8_t(1), true, 64, rows, count);  // expect: illegal-overlap
}
