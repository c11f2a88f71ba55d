// A TBuf per row: more than 64 buffers.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> rows[repaired ? 64 : 70];
    for (auto& row : rows) pipe.InitBuffer(row, 32);  // expect: buffer-limit
}
