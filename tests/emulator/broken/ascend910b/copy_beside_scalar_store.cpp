// One core's result is a single float, by SetValue; the next one's block follows in its line.
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
        result.SetValue(0, 1.0f);
    else
        DataCopy(result[repaired ? 16 : 8], b, 8);  // expect: gm-block-shared
    out.FreeTensor(b);
}
