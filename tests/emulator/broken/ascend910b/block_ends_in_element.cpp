// The length of a block in elements where bytes are wanted.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 4096);
    const DataCopyExtParams params{1, repaired ? 250u * 4 : 250u, 0, 0, 0};
    const DataCopyPadExtParams<float> pad{false, 0, 0, 0};
    DataCopyPad(buffer.Get<float>(), global<float>(x), params, pad);  // expect: illegal-count
}
