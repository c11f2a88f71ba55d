// SyncAll with more blocks than cores.
#include "broken/broken.h"

BROKEN_KERNEL(64) {
    SyncAll();  // expect: too-many-blocks
}
