// A core stores eight floats by DataCopy, and the next one the ninth by SetValue, in the same line.
#include "broken/broken.h"

BROKEN_KERNEL(2) {
    TPipe pipe;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(out, 1, 32);
    auto b = out.AllocTensor<float>();
    Duplicate(b, 1.0f, 8);
    out.EnQue(b);
    b = out.DeQue<float>();
    auto result = global<float>(workspace);
    const InTurn turn;
    if (GetBlockIdx() == 0)
        DataCopy(result, b, 8);
    else
        result.SetValue(repaired ? 16 : 8, 1.0f);  // expect: gm-block-shared
    out.FreeTensor(b);
}
