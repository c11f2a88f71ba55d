// Two cores store rounded-up rows that share a 32-byte block.
#include "broken/broken.h"

BROKEN_KERNEL(2) {
    TPipe pipe;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(out, 2, 1024 * sizeof(float));
    auto target = global<float>(z);
    auto b = out.AllocTensor<float>();
    Duplicate(b, 1.0f, 56);
    out.EnQue(b);
    b = out.DeQue<float>();
    const InTurn turn;
    DataCopy(target[GetBlockIdx() * (repaired ? 56 : 50)], b, 56);  // expect: gm-race
    out.FreeTensor(b);
}
