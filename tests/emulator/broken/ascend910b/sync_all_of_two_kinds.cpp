// One core waits in hardware, the other by GM.
#include "broken/broken.h"

BROKEN_KERNEL(2) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 1024);
    if (repaired || GetBlockIdx() == 0)
        SyncAll();  // expect: sync-all-incomplete
    else
        SyncAll(global<int32_t>(workspace, 16384), buffer.Get<int32_t>());
}
