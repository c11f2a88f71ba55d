#include "core/parallel.h"
#include "core/streaming.h"
#include "ops/avg_pool2d_backward/op.h"
#include "ops/table.h"

namespace ascend_grad {

using Op = AvgPool2dBackward;

void Op::run(const Plan& plan, void* const* addresses, void*) {
    if (plan.is_empty) return;
    const Kernels& kernels = kernel_table().avg_pool2d_backward[kernel_index(plan.dtype)];
    const int threads = threads_for(plan.bytes);
    const bool streaming = plan.streaming_fits && streaming_pays(plan.bytes);
    parallel_for(plan.tasks, threads, [&](int64_t begin, int64_t end) {
        kernels.run(plan, addresses, streaming, begin, end);
    });
}

}  // namespace ascend_grad
