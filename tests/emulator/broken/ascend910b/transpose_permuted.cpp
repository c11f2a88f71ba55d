// Rows are transposed onto themselves in another order.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    auto t = buffer.Get<half>();
    Duplicate(t, half(1.0f), 256);
    LocalTensor<half> from[16], to[16];
    for (int row = 0; row < 16; ++row) {
        from[row] = t[row * 16];
        to[row] = t[(repaired ? row : 15 - row) * 16];
    }
    const TransDataTo5HDParams once(false, false, 1, 0, 0);
    TransDataTo5HD<half>(to, from, once);  // expect: illegal-overlap
}
