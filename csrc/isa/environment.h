// The environment variables, read once when first asked for.
#pragma once

#include <string>

#include "core/soc.h"
#include "isa/detect.h"

namespace ascend_grad {

struct Environment {
    Isa isa;            // ASCEND_GRAD_ISA
    Soc soc;            // ASCEND_GRAD_SOC
    std::string error;  // what is wrong with them, "" when nothing
};

// Without a lock, which a child that is forked meanwhile would find taken.
const Environment& environment();

// What the level in use has in its namespace, which each has.
#if defined(__aarch64__)
#define OF_LEVEL_IN_USE(name) kernels_baseline::name
#else
#define OF_LEVEL_IN_USE(name)                                 \
    (environment().isa == Isa::kAvx512 ? kernels_avx512::name \
     : environment().isa == Isa::kAvx2 ? kernels_avx2::name   \
                                       : kernels_baseline::name)
#endif

}  // namespace ascend_grad
