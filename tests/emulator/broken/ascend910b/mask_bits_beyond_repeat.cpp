// Bits for 128 elements on a 32-bit type.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 8192);
    auto t = buffer.Get<float>();
    uint64_t mask[2] = {~0ull, repaired ? 0 : ~0ull};
    Duplicate(t, 1.0f, mask, 2, 1, 8);  // expect: illegal-mask
}
