#include "device/product.h"

namespace ascend_grad::device {
namespace {

// Unified buffer: 192 KiB on A2 and A3, else 256; some instructions borrow 8 KiB at its end.
constexpr Product kA2{220, 48, 184 << 10, 8 << 10, true, true};
constexpr Product kInference{200, 8, 248 << 10, 8 << 10, false, false};
constexpr Product kTraining{100, 32, 248 << 10, 8 << 10, false, false};

}  // namespace

Product product_of(Soc soc, uint32_t cores) {
    Product product = soc == Soc::kAscend910    ? kTraining
                      : soc == Soc::kAscend310P ? kInference
                                                : kA2;
    if (cores != 0) product.cores = cores;
    return product;
}

const char* family_of(Soc soc) {
    switch (soc) {
        case Soc::kAscend910:
            return "ascend910";
        case Soc::kAscend310P:
            return "ascend310p";
        default:
            return "ascend910b";
    }
}

}  // namespace ascend_grad::device
