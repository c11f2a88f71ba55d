// A member tensor that was never assigned.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    LocalTensor<float> t;
    Duplicate(t, 0.0f, 8);  // expect: unallocated-tensor
}
