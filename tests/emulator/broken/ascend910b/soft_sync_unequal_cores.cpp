// Cores of one SyncAll that count its cores differently.
#include "broken/broken.h"

BROKEN_KERNEL(3) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 1024);
    const auto counts = global<int32_t>(workspace, 256);
    const int32_t cores = repaired || GetBlockIdx() != 1 ? 3 : 2;
    SyncAll(counts, buffer.Get<int32_t>(), cores);  // expect: illegal-argument
}
