// A TBuf without bytes.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, repaired ? 32 : 0);  // expect: illegal-argument
}
