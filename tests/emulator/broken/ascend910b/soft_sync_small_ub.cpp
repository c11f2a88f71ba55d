// The UB workspace of the soft SyncAll lies behind its buffer.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 32);
    auto ub = buffer.Get<int32_t>()[repaired ? 0 : 8];
    const auto counts = global<int32_t>(workspace, 16);
    SyncAll(counts, ub);  // expect: ub-out-of-bounds
}
