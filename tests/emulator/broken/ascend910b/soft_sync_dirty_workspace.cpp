// The workspace of the soft SyncAll is not zero.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 1024);
    auto ub = buffer.Get<int32_t>();
    SyncAll(global<int32_t>(repaired ? workspace : x, 16384), ub);  // expect: workspace-not-zero
}
