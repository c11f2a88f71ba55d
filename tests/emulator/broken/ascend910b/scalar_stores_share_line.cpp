// Each core stores one float of the result by SetValue.
#include "broken/broken.h"

BROKEN_KERNEL(4) {
    auto result = global<float>(workspace);
    const InTurn turn;
    result.SetValue(GetBlockIdx() * (repaired ? 16 : 1), 1.0f);  // expect: gm-block-shared
}
