// Ascend910 has four event ids.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    const int id = repaired ? 3 : 4;
    SetFlag<HardEvent::V_S>(id);  // expect: event-id-range
    WaitFlag<HardEvent::V_S>(id);
}
