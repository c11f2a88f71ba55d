// An event of the matrix pipes in a vector kernel.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    constexpr auto event = repaired ? HardEvent::MTE2_V : HardEvent::MTE1_M;
    SetFlag<event>(0);  // expect: event-unknown
    WaitFlag<event>(0);
}
