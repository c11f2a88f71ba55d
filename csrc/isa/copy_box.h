// Copies boxes of elements from some strides to others, bits as they are.
#pragma once

#include <cstdint>

#include "isa/levels.h"

namespace ascend_grad {

// Strides in bytes.
struct Axis {
    int64_t count;
    int64_t from;
    int64_t to;
};

// By the logarithm of elements' bytes less one: 2, 4, 8. The axes' order is free, and changed.
using CopyBox = void (*)(char* to, const char* from, Axis* axes, int count);
OF_EACH_LEVEL(extern const CopyBox copy_box[3])

}  // namespace ascend_grad
