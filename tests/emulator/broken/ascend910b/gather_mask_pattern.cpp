// GatherMask has no pattern 0.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> data, result;
    pipe.InitBuffer(data, 256);
    pipe.InitBuffer(result, 256);
    auto d = data.Get<float>();
    Duplicate(d, 1.0f, 64);
    uint64_t count = 0;
    const uint8_t pattern = repaired;
    const GatherMaskParams once{1, 1, 8, 0};
    GatherMask(result.Get<float>(), d, pattern, false, 0, once, count);  // expect: illegal-argument
}
