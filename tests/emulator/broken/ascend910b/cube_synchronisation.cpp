// Mode 2 waits for a cube core that a vector kernel does not have.
#include "broken/broken.h"

BROKEN_KERNEL(2) {
    CrossCoreSetFlag<2, PIPE_MTE3>(1);  // expect: not-emulated
}
