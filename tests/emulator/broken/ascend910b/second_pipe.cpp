// A helper constructs a TPipe of its own.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TPipe helper;  // expect: second-pipe
}
