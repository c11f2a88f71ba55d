// One repeat of half becomes float where it lies.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    auto wide = buffer.Get<float>();
    auto narrow = wide.ReinterpretCast<half>()[repaired ? 128 : 0];
    Duplicate(narrow, half(1.0f), 64);
    Cast(wide, narrow, RoundMode::CAST_NONE, 64);  // expect note: widening-in-place
}
