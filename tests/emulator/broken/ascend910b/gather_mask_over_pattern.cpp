// The elements that a pattern selects are packed over it.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> data, pattern;
    pipe.InitBuffer(data, 4096);
    pipe.InitBuffer(pattern, 4096);
    auto t = data.Get<float>();
    auto bits = pattern.Get<uint32_t>();
    Duplicate(t, 1.0f, 1024);
    Duplicate(bits, 0x55555555u, 32);
    const auto to = bits[repaired ? 32 : 0].ReinterpretCast<float>();
    const GatherMaskParams rows = {1, 4, 8, 1};
    uint64_t count = 0;
    GatherMask(to, t, bits, true, 64, rows, count);  // expect: illegal-overlap
}
