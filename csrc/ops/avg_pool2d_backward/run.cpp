#include "core/parallel.h"
#include "core/streaming.h"
#include "ops/avg_pool2d_backward/op.h"
#include "ops/table.h"

namespace ascend_grad {

using Op = AvgPool2dBackward;

namespace {

// Rows pass through a buffer on their way to streaming stores, which on one thread costs more than
// it saves until calls are four times as large as elsewhere; channels, whole lines each, gain from
// half the size on (measured, docs/performance.md).
bool streams(const Op::Plan& plan, int threads) {
    if (!plan.streaming_fits) return false;
    if (plan.traversal == Op::Traversal::kAlongChannels)
        return streaming_pays(saturated_bytes(plan.bytes, 2));
    return streaming_pays(threads == 1 ? plan.bytes / 4 : plan.bytes);
}

}  // namespace

void Op::run(const Plan& plan, void* const* addresses, void*) {
    if (plan.is_empty) return;
    const Kernels& kernels = kernel_table().avg_pool2d_backward[kernel_index(plan.dtype)];
    const int threads = threads_for(plan.bytes);
    const bool streaming = streams(plan, threads);
    parallel_for(plan.tasks, threads, [&](int64_t begin, int64_t end) {
        kernels.run(plan, addresses, streaming, begin, end);
    });
}

}  // namespace ascend_grad
