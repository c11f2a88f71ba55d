// A flag is set and never waited for.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    SetFlag<HardEvent::V_S>(2);  // expect: event-left-set
    if (repaired) WaitFlag<HardEvent::V_S>(2);
}
