// The output pointer is advanced twice, far beyond its buffer.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    auto target = global<float>(z + (repaired ? 0 : 1ull << 40));
    target.SetValue(0, 1.0f);  // expect: gm-out-of-bounds
}
