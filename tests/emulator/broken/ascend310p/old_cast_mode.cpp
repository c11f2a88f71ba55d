// CAST_RINT from float to half does not exist on 310P.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> a, b;
    pipe.InitBuffer(a, 4096);
    pipe.InitBuffer(b, 4096);
    Duplicate(a.Get<float>(), 1.0f, 512);
    const auto mode = repaired ? RoundMode::CAST_NONE : RoundMode::CAST_RINT;
    Cast(b.Get<half>(), a.Get<float>(), mode, 512);  // expect: illegal-round-mode
}
