// Half results lie a block behind the floats that they are made of.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 4096);
    auto t = buffer.Get<float>();
    Duplicate(t, 1.0f, 1024);
    auto to = t[repaired ? 0 : 8].ReinterpretCast<half>();
    Cast(to, t, RoundMode::CAST_RINT, 512);  // expect: illegal-overlap
}
