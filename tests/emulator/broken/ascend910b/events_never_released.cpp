// An event id is allocated in every iteration.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    for (int i = 0; i < (repaired ? 8 : 9); ++i)
        pipe.AllocEventID<HardEvent::V_S>();  // expect: event-exhausted
}
