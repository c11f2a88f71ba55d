// Blocks are addressed in bytes where the tensor counts elements.
#include "broken/broken.h"

BROKEN_KERNEL(4) {
    TPipe pipe;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(out, 2, 1024 * sizeof(float));
    auto target = global<float>(z);
    auto a = out.AllocTensor<float>();
    Duplicate(a, 1.0f, 1024);
    out.EnQue(a);
    a = out.DeQue<float>();
    const InTurn turn;
    const uint64_t start = GetBlockIdx() * 1024 * (repaired ? 1 : sizeof(float)) + 4096;
    DataCopy(target[start], a, 1024);  // expect: gm-out-of-bounds
    out.FreeTensor(a);
}
