// A helper constructs a TPipe of its own.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    if (repaired) pipe.Destroy();
    TPipe helper;  // expect: second-pipe
}
