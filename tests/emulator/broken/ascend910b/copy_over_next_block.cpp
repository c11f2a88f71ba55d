// The first block of a copy within UB lands on the second one.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 4096);
    auto t = buffer.Get<float>();
    Duplicate(t, 1.0f, 1024);
    const DataCopyParams blocks = {4, 8, 0, 0};
    DataCopy(t[repaired ? 256 : 64], t, blocks);  // expect: illegal-overlap
}
