// The queue holds the event from EnQue to DeQue; another id is free.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 1, 1024 * sizeof(float));
    auto a = in.AllocTensor<float>();
    DataCopy(a, global<float>(x), 1024);
    in.EnQue(a);
    const auto free = static_cast<event_t>(pipe.FetchEventID(HardEvent::MTE2_V));
    const event_t id = repaired ? free : EVENT_ID0;
    SetFlag<HardEvent::MTE2_V>(id);  // expect: event-set-twice
    WaitFlag<HardEvent::MTE2_V>(id);
    a = in.DeQue<float>();
    in.FreeTensor(a);
}
