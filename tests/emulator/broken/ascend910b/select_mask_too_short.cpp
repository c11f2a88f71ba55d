// Compare covers 960 of 1000 elements; the mask bits of the rest were never written.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer, mask;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(buffer, 4096);
    pipe.InitBuffer(mask, 128);
    pipe.InitBuffer(out, 1, 4096);
    auto t = buffer.Get<float>();
    auto bits = mask.Get<uint8_t>();
    Duplicate(t, 1.0f, 1024);
    CompareScalar(bits, t, 0.5f, CMPMODE::GT, repaired ? 1024 : 960);
    auto b = out.AllocTensor<float>();
    Select(b, bits, t, 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 1000);
    out.EnQue(b);
    b = out.DeQue<float>();
    DataCopy(global<float>(z), b, 1000);  // expect: uninitialized-output
    out.FreeTensor(b);
}
