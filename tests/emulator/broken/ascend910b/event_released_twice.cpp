// An event id is released twice.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    auto id = pipe.AllocEventID<HardEvent::V_S>();
    if (!repaired) pipe.ReleaseEventID<HardEvent::V_S>(id);
    pipe.ReleaseEventID<HardEvent::V_S>(id);  // expect: event-not-reserved
}
