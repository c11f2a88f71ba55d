// The temporary of Broadcast starts within a block.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> data, result;
    pipe.InitBuffer(data, 128);
    pipe.InitBuffer(result, 1024);
    auto d = data.Get<float>();
    Duplicate(d, 1.0f, 32);
    TBuf<TPosition::VECCALC> scratch;
    pipe.InitBuffer(scratch, 1024);
    auto temporary = scratch.Get<uint8_t>()[repaired ? 32 : 8];
    const uint32_t to[2] = {16, 16}, from[2] = {1, 16};
    Broadcast<float, 2, 0>(result.Get<float>(), d, to, from, temporary);  // expect: misaligned
}
