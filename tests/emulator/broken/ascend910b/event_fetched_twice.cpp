// Two ids from FetchEventID are one.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    const auto first = static_cast<event_t>(pipe.FetchEventID(HardEvent::MTE3_MTE2));
    SetFlag<HardEvent::MTE3_MTE2>(first);
    if (repaired) WaitFlag<HardEvent::MTE3_MTE2>(first);
    const auto second = static_cast<event_t>(pipe.FetchEventID(HardEvent::MTE3_MTE2));
    SetFlag<HardEvent::MTE3_MTE2>(second);  // expect: event-set-twice
    WaitFlag<HardEvent::MTE3_MTE2>(second);
}
