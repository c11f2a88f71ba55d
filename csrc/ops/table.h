// The kernels of the instruction set in use.
#pragma once

#include "ops/avg_pool2d_backward/op.h"
#include "ops/batch_norm_reduce_backward/op.h"
#include "ops/prelu_backward/op.h"
#include "ops/softmax_backward/op.h"

namespace ascend_grad {

struct KernelTable {
#define OPERATOR(name, Type) Type::Kernels name[kKernelDtypes];
#include "ops/ops.def"
#undef OPERATOR
};

// One table per instruction set level, each compiled from table.cpp.
extern const KernelTable kernel_table_baseline;
extern const KernelTable kernel_table_avx2;
extern const KernelTable kernel_table_avx512;

const KernelTable& kernel_table();

}  // namespace ascend_grad
