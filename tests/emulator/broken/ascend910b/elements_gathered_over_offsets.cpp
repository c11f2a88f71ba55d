// Gather writes to where the offsets of later elements lie.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> data, index;
    pipe.InitBuffer(data, 1024);
    pipe.InitBuffer(index, 2048);
    auto d = data.Get<uint32_t>();
    auto i = index.Get<int32_t>();
    Duplicate(d, 1u, 256);
    CreateVecIndex(i, 0, 256);
    Muls(i, i, 4, 256);
    auto offsets = i.ReinterpretCast<uint32_t>();
    Gather(offsets[repaired ? 256 : 64], d, offsets, 0, 256);  // expect: illegal-overlap
}
