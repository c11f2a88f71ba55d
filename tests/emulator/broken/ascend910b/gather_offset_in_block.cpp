// Offsets of Gatherb count elements where whole blocks are wanted.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> data, index, result;
    pipe.InitBuffer(data, 1024);
    pipe.InitBuffer(index, 32);
    pipe.InitBuffer(result, 256);
    auto d = data.Get<uint32_t>();
    auto i = index.Get<int32_t>();
    Duplicate(d, 1u, 256);
    CreateVecIndex(i, 0, 8);
    Muls(i, i, repaired ? 32 : 4, 8);
    auto offsets = i.ReinterpretCast<uint32_t>();
    Gatherb(result.Get<uint32_t>(), d, offsets, 1, {1, 8});  // expect: misaligned
}
