// Broadcast makes rows that end within a block.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> data, result;
    pipe.InitBuffer(data, 128);
    pipe.InitBuffer(result, 1024);
    auto d = data.Get<float>();
    Duplicate(d, 1.0f, 32);
    const uint32_t columns = repaired ? 16 : 12;
    const uint32_t to[2] = {16, columns}, from[2] = {1, columns};
    Broadcast<float, 2, 0>(result.Get<float>(), d, to, from);  // expect: misaligned
}
