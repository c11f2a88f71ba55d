// Rows of 8 floats that start in the middle of a 32-byte block.
#include "broken/broken.h"

BROKEN_KERNEL(2) {
    TPipe pipe;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(out, 1, 256);
    auto b = out.AllocTensor<float>();
    Duplicate(b, 1.0f, 8);
    out.EnQue(b);
    b = out.DeQue<float>();
    const InTurn turn;
    const uint64_t start = (repaired ? 8 : 4) + GetBlockIdx() * 8;
    DataCopy(global<float>(z)[start], b, 8);  // expect: gm-block-shared
    out.FreeTensor(b);
}
