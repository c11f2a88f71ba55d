// More elements than a tensor at an address of one's own has.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    auto t = pipe.GetAbsAddr<TPosition::VECCALC, float>(1024, 64);
    Duplicate(t, 1.0f, repaired ? 64 : 128);  // expect: ub-out-of-bounds
}
