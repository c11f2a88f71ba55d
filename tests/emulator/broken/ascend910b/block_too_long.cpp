// More bytes than one block of DataCopyPad may have.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 4096);
    const DataCopyExtParams params{1, repaired ? 4096u : 2097152u, 0, 0, 0};
    const DataCopyPadExtParams<float> pad{false, 0, 0, 0};
    DataCopyPad(buffer.Get<float>(), global<float>(x), params, pad);  // expect: illegal-count
}
