// Scatter turns a row round where it lies.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> data, index;
    pipe.InitBuffer(data, 1024);
    pipe.InitBuffer(index, 512);
    auto d = data.Get<float>();
    auto offsets = index.Get<uint32_t>();
    Duplicate(d, 1.0f, 256);
    for (uint32_t i = 0; i < 128; ++i) offsets.SetValue(i, (127 - i) * 4);
    PipeBarrier<PIPE_ALL>();
    Scatter(d[repaired ? 128 : 0], d, offsets, 0, 128);  // expect: illegal-overlap
}
