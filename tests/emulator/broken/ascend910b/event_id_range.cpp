// Event id 8 does not exist.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    SetFlag<HardEvent::V_S>(8);  // expect: event-id-range
}
