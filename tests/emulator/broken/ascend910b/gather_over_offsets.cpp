// Blocks are gathered to where the offsets of later ones lie.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> data, index;
    pipe.InitBuffer(data, 4096);
    pipe.InitBuffer(index, 4096);
    auto d = data.Get<uint32_t>();
    auto i = index.Get<int32_t>();
    Duplicate(d, 1u, 1024);
    CreateVecIndex(i, 0, 64);
    Muls(i, i, 32, 64);
    auto to = i[repaired ? 64 : 8].ReinterpretCast<uint32_t>();
    Gatherb(to, d, i.ReinterpretCast<uint32_t>(), 8, {1, 8});  // expect: illegal-overlap
}
