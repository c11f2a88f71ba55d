// Ascend910 has four event ids.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    SetFlag<HardEvent::V_S>(4);  // expect: event-id-range
}
