// A tensor at an address of one's own ends beyond UB.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    const int32_t begin = repaired ? 191 * 1024 : 192 * 1024;
    auto t = pipe.GetAbsAddr<TPosition::VECCALC, float>(begin, 256);  // expect: ub-out-of-bounds
    (void)t;
}
