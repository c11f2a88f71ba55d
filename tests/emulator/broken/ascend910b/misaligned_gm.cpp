// Floats at an odd address in GM.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 4096);
    const auto source = global<float>(x + (repaired ? 4 : 2));
    DataCopy(buffer.Get<float>(), source, 64);  // expect: misaligned
}
