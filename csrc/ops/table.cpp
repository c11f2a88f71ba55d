// Compiled once per instruction set level with that level's flags and KERNEL_TABLE naming the
// table.
#include "ops/table.h"

#include "ops/avg_pool2d_backward/kernel.h"
#include "ops/batch_norm_reduce_backward/kernel.h"
#include "ops/prelu_backward/kernel.h"
#include "ops/softmax_backward/kernel.h"

namespace ascend_grad {

extern const KernelTable KERNEL_TABLE = {
#define OPERATOR(name, Type)                                           \
    {Type##Kernel<float>::kernels(), Type##Kernel<Float16>::kernels(), \
     Type##Kernel<BFloat16>::kernels()},
#include "ops/ops.def"
#undef OPERATOR
};

}  // namespace ascend_grad
