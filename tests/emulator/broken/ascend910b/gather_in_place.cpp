// Gather writes over what it gathers from.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> data, index;
    pipe.InitBuffer(data, 4096);
    pipe.InitBuffer(index, 1024);
    auto d = data.Get<float>();
    auto i = index.Get<int32_t>();
    Duplicate(d, 1.0f, 1024);
    CreateVecIndex(i, 0, 256);
    Muls(i, i, 4, 256);
    auto offsets = i.ReinterpretCast<uint32_t>();
    Gather(d[repaired ? 512 : 0], d, offsets, 0, 256);  // expect: illegal-overlap
}
