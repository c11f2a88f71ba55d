// All cores store to the same place.
#include "broken/broken.h"

BROKEN_KERNEL(2) {
    TPipe pipe;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(out, 2, 1024 * sizeof(float));
    auto target = global<float>(z);
    auto b = out.AllocTensor<float>();
    Duplicate(b, 1.0f, 1024);
    out.EnQue(b);
    b = out.DeQue<float>();
    const InTurn turn;
    DataCopy(target[repaired ? GetBlockIdx() * 1024 : 0], b, 1024);  // expect: gm-race
    out.FreeTensor(b);
}
