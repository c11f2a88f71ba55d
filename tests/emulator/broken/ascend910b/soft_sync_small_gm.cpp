// The GM workspace of the soft SyncAll is shorter than a block.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 32);
    const auto counts = global<int32_t>(workspace, repaired ? 8 : 4);
    SyncAll(counts, buffer.Get<int32_t>());  // expect: illegal-argument
}
