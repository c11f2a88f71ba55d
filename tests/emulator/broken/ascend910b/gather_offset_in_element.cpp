// Offsets of Gather count elements where bytes are wanted.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> data, index, result;
    pipe.InitBuffer(data, 1024);
    pipe.InitBuffer(index, 1024);
    pipe.InitBuffer(result, 1024);
    auto d = data.Get<float>();
    auto i = index.Get<int32_t>();
    Duplicate(d, 1.0f, 256);
    CreateVecIndex(i, 0, 256);
    if (repaired) Muls(i, i, 4, 256);
    auto offsets = i.ReinterpretCast<uint32_t>();
    Gather(result.Get<float>(), d, offsets, 0, 256);  // expect: misaligned
}
