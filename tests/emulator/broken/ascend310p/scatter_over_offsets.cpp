// Scatter writes to where the offsets of later elements lie.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> data, index;
    pipe.InitBuffer(data, 512);
    pipe.InitBuffer(index, 1024);
    auto d = data.Get<uint32_t>();
    auto offsets = index.Get<uint32_t>();
    Duplicate(d, 1u, 128);
    for (uint32_t i = 0; i < 128; ++i) offsets.SetValue(i, i * 4);
    PipeBarrier<PIPE_ALL>();
    Scatter(offsets[repaired ? 128 : 64], d, offsets, 0, 128);  // expect: illegal-overlap
}
