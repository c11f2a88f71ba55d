// Event id 8 does not exist.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    const int id = repaired ? 7 : 8;
    SetFlag<HardEvent::V_S>(id);  // expect: event-id-range
    WaitFlag<HardEvent::V_S>(id);
}
