// Host side of the kernel that copies between strided memory.
#pragma once

#include "core/tensor.h"
#include "device/plan.h"
#include "device/strided_copy.h"

namespace ascend_grad::device {

// Entry point for that pair of dtypes; null where there is none.
const char* strided_copy_kernel(DataType source, DataType target);
// Both views have the same shape, with elements. `target_is_aligned`: it begins at a multiple of 64
// bytes, and what follows it up to the next is nobody's. Sets the number of cores.
StridedCopyTiling tile_strided_copy(const TensorView& source, const TensorView& target,
                                    bool target_is_aligned, const Product& product,
                                    uint32_t& blocks);

}  // namespace ascend_grad::device
