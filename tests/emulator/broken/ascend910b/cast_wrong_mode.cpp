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
    Cast(narrow, wide, RoundMode::CAST_NONE, 512);  // expect: illegal-round-mode
}
