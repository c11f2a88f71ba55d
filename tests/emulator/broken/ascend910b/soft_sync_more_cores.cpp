// SyncAll of more cores than were launched.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 1024);
    const auto counts = global<int32_t>(workspace, 256);
    SyncAll(counts, buffer.Get<int32_t>(), repaired ? 1 : 2);  // expect: illegal-argument
}
