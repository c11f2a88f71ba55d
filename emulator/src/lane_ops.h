// Arithmetic of one repeat on contiguous lanes.
#pragma once

#include "ascendc_emulator/runtime.h"

namespace ascendc_emulator {

struct LaneArgs {
    void* dst;  // also holds the old value for accumulating operations
    const void* a;
    const void* b;
    const void* scalar;
    uint32_t n;
    bool flag;
};
using LaneFunction = void (*)(const LaneArgs&);

// Null when the runtime does not know the combination (the headers do not let it through).
LaneFunction find_lane_function(rt::Op op, rt::DType dst, rt::DType src);
// Relative cost of the operation: cycles per 256-byte repeat, times the cost table's unit.
double lane_weight(rt::Op op, rt::DType dst);

}  // namespace ascendc_emulator
