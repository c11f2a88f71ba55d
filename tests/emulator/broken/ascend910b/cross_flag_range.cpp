// Flags between cores from 11 on serve SyncAll.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    const uint16_t flag = repaired ? 10 : 11;
    CrossCoreSetFlag<0, PIPE_MTE3>(flag);  // expect: event-id-range
    CrossCoreWaitFlag(flag);
}
