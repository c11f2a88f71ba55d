// A flag is set with an id that is not reserved, and still set when the queue takes the same.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(out, 1, 4096);
    const auto id = static_cast<event_t>(pipe.FetchEventID(HardEvent::V_MTE3));
    SetFlag<HardEvent::V_MTE3>(id);
    auto b = out.AllocTensor<float>();
    Duplicate(b, 1.0f, 1024);
    if (repaired) WaitFlag<HardEvent::V_MTE3>(id);
    out.EnQue(b);  // expect: event-set-twice
    b = out.DeQue<float>();
    out.FreeTensor(b);
}
