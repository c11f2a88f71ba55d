// Mode 2 waits for a cube core that a vector kernel does not have.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    constexpr int mode = repaired ? 0 : 2;
    CrossCoreSetFlag<mode, PIPE_MTE3>(1);  // expect: not-emulated
    CrossCoreWaitFlag(1);
}
