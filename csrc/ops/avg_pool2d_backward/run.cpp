#include "core/parallel.h"
#include "core/streaming.h"
#include "ops/avg_pool2d_backward/op.h"
#include "ops/table.h"

namespace ascend_grad {

using Op = AvgPool2dBackward;

namespace {

// Measured: as little is read, ordinary stores pay up to twice the size of other operators. On one
// thread, up to four times where rows pass through a buffer on their way to streaming stores, and
// to two thirds where they do not.
bool streams(const Op::Plan& plan, int threads) {
    const bool is_buffered = plan.traversal != Op::Traversal::kAlongChannels || plan.transposes;
    const int64_t on_one_thread = is_buffered ? plan.bytes / 4 : saturated_bytes(plan.bytes, 3) / 2;
    return plan.streaming_fits && streaming_pays(threads == 1 ? on_one_thread : plan.bytes / 2);
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
