// The second operand was never loaded.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 2, 1024 * sizeof(float));
    pipe.InitBuffer(out, 2, 1024 * sizeof(float));
    auto source = global<float>(x);
    auto a = in.AllocTensor<float>();
    DataCopy(a, source, 1024);
    in.EnQue(a);
    auto b = in.AllocTensor<float>();
    if (repaired) {
        DataCopy(b, source, 1024);
        const auto id = static_cast<event_t>(pipe.FetchEventID(HardEvent::MTE2_V));
        SetFlag<HardEvent::MTE2_V>(id);
        WaitFlag<HardEvent::MTE2_V>(id);
    }
    a = in.DeQue<float>();
    auto c = out.AllocTensor<float>();
    Add(c, a, b, 1024);  // expect: uninitialized-read
    out.EnQue(c);
    c = out.DeQue<float>();
    out.FreeTensor(c);
    in.FreeTensor(a);
    in.FreeTensor(b);
}
