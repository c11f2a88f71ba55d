// The environment variables, read once when first asked for.
#pragma once

#include <string>

#include "core/soc.h"
#include "isa/detect.h"

namespace ascend_grad {

struct Environment {
    Isa isa;            // ASCEND_GRAD_ISA
    Soc soc;            // ASCEND_GRAD_SOC
    std::string error;  // what is wrong with these and ASCEND_GRAD_LOG, "" when nothing
};

// Without a lock, which a child that is forked meanwhile would find taken.
const Environment& environment();

}  // namespace ascend_grad
