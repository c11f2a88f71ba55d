// Each core stores one float of the result by SetValue.
#include "broken/broken.h"

BROKEN_KERNEL(4) {
    auto result = global<float>(workspace);
    result.SetValue(GetBlockIdx(), 1.0f);  // expect: gm-block-shared
}
