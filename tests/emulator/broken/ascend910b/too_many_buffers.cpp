// A TBuf per row, then a queue: more than 64 buffers.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> rows[63];
    for (auto& row : rows) pipe.InitBuffer(row, 32);
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, repaired ? 1 : 2, 32);  // expect: buffer-limit
}
