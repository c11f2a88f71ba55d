// The second of two workspaces is not zero.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 1024);
    auto ub = buffer.Get<int32_t>();
    SyncAll(global<int32_t>(workspace, 16384), ub);
    GM_ADDR second = repaired ? workspace + 1024 : x;
    SyncAll(global<int32_t>(second, 8), ub);  // expect: workspace-not-zero
}
