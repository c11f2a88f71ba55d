// half to float in the same buffer.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 2048);
    auto wide = buffer.Get<float>();
    auto narrow = wide.ReinterpretCast<half>()[repaired ? 512 : 0];
    Duplicate(narrow, half(1.0f), 512);
    Cast(wide, narrow, RoundMode::CAST_NONE, 512);  // expect: illegal-overlap
}
