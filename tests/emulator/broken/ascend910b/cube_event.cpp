// An event of the matrix pipes in a vector kernel.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    SetFlag<HardEvent::MTE1_M>(0);  // expect: event-unknown
}
