// SetGlobalBuffer claims as many elements as there are bytes.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    GlobalTensor<float> source;
    const uint64_t elements = repaired ? 16384 : 65536;
    source.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), elements);  // expect note: gm-size
}
