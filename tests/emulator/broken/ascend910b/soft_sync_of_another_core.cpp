// SyncAll of two cores is called by the first and the last.
#include "broken/broken.h"

BROKEN_KERNEL(4) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 1024);
    if (GetBlockIdx() != 0 && GetBlockIdx() != (repaired ? 1 : 3)) return;
    const auto counts = global<int32_t>(workspace, 256);
    SyncAll(counts, buffer.Get<int32_t>(), 2);  // expect: illegal-argument
}
