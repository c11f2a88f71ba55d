// Repeat strides where there is one repeat.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    auto t = buffer.Get<half>();
    Duplicate(t, half(1.0f), 256);
    LocalTensor<half> rows[16];
    for (int row = 0; row < 16; ++row) rows[row] = t[row * 16];
    const uint16_t stride = repaired ? 0 : 16;
    const TransDataTo5HDParams once(false, false, 1, stride, stride);
    TransDataTo5HD<half>(rows, rows, once);  // expect: illegal-stride
}
