// A maximum without its index.
#include "broken/broken.h"

BROKEN_KERNEL(1) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> a, b;
    pipe.InitBuffer(a, 256);
    pipe.InitBuffer(b, 32);
    auto t = a.Get<float>();
    Duplicate(t, 1.0f, 64);
    const auto order = repaired ? ReduceOrder::ORDER_VALUE_INDEX : ReduceOrder::ORDER_ONLY_VALUE;
    WholeReduceMax(b.Get<float>(), t, 64, 1, 1, 1, 8, order);  // expect: unsupported
}
