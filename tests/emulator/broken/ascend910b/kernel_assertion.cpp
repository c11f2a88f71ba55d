// An assertion of the kernel itself.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    ASCENDC_ASSERT(GetBlockNum() == (repaired ? 1 : 2), {});  // expect: assert
}
