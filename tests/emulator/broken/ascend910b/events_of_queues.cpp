// Freed buffers hold an event each until they are allocated again, eight of a kind in all.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 8, 32);
    LocalTensor<float> tensors[8];
    for (auto& tensor : tensors) tensor = in.AllocTensor<float>();
    for (int i = 0; i < (repaired ? 7 : 8); ++i) in.FreeTensor(tensors[i]);
    const auto id = pipe.AllocEventID<HardEvent::V_MTE2>();  // expect: event-exhausted
    pipe.ReleaseEventID<HardEvent::V_MTE2>(id);
    if (repaired) in.FreeTensor(tensors[7]);
}
