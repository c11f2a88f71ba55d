// SyncAll with more blocks than cores.
#include "broken/broken.h"

BROKEN_KERNEL(64) {
    const InTurn turn;
    if (!repaired) SyncAll();  // expect: too-many-blocks
}
