// The facts of a product that kernels are planned for.
#pragma once

#include "core/soc.h"
#include "device/plan.h"

namespace ascend_grad::device {

// `cores`: of the device at hand; 0 for the most that the product family has.
Product product_of(Soc soc, uint32_t cores = 0);

// The family whose kernels run on that product, by the name of one of its products: "ascend910b".
const char* family_of(Soc soc);

}  // namespace ascend_grad::device
