// The source of Broadcast has no axis of length 1.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> data, result;
    pipe.InitBuffer(data, 128);
    pipe.InitBuffer(result, 1024);
    auto d = data.Get<float>();
    Duplicate(d, 1.0f, 32);
    const uint32_t to[2] = {16, 16}, from[2] = {repaired ? 1u : 2u, 16};
    Broadcast<float, 2, 0>(result.Get<float>(), d, to, from);  // expect: illegal-argument
}
