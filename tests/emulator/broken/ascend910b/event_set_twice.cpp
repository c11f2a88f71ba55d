// A loop sets the flag each time but waits once.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    for (int i = 0; i < (repaired ? 1 : 2); ++i)
        SetFlag<HardEvent::MTE2_V>(3);  // expect: event-set-twice
    WaitFlag<HardEvent::MTE2_V>(3);
}
