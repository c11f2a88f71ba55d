// The bits for the compare-mask register start within 16 bytes.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 64);
    auto bits = buffer.Get<int32_t>();
    Duplicate(bits, -1, 16);
    SetCmpMask(bits[repaired ? 4 : 2]);  // expect: misaligned
}
