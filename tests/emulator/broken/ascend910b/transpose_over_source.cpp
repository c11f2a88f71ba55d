// The second repeat transposes what the first one has written.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer, other;
    pipe.InitBuffer(buffer, 4096);
    pipe.InitBuffer(other, 4096);
    auto t = buffer.Get<half>();
    auto to = repaired ? other.Get<half>() : t[256];
    Duplicate(t, half(1.0f), 2048);
    LocalTensor<half> from_rows[16], to_rows[16];
    for (int row = 0; row < 16; ++row) {
        from_rows[row] = t[row * 16];
        to_rows[row] = to[row * 16];
    }
    TransDataTo5HDParams params(false, false, 2, 16, 16);
    TransDataTo5HD<half>(to_rows, from_rows, params);  // expect: illegal-overlap
}
