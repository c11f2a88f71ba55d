// float to bfloat16 needs a rounding mode.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> a, b;
    pipe.InitBuffer(a, 4096);
    pipe.InitBuffer(b, 4096);
    auto wide = a.Get<float>();
    auto narrow = b.Get<bfloat16_t>();
    Duplicate(wide, 1.0f, 512);
    const auto mode = repaired ? RoundMode::CAST_RINT : RoundMode::CAST_NONE;
    Cast(narrow, wide, mode, 512);  // expect: illegal-round-mode
}
