// Only some cores reach SyncAll.
#include "broken/broken.h"

BROKEN_KERNEL(4) {
    if (repaired || GetBlockIdx() != 3) SyncAll();  // expect: sync-all-incomplete
}
