// The kernel gives up.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    if (GetBlockNum() != (repaired ? 1 : 2)) Trap();  // expect: trap
}
