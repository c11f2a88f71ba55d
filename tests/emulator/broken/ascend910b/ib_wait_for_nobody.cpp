// IBWait for a block that never calls IBSet.
#include "broken/broken.h"

BROKEN_KERNEL(2) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 64);
    auto gm = global<int32_t>(workspace, 64);
    if (repaired && GetBlockIdx() == 0) IBSet(gm, buffer.Get<int32_t>(), 0, 0);
    if (GetBlockIdx() == 1) IBWait(gm, buffer.Get<int32_t>(), 0, 0);  // expect: deadlock
}
