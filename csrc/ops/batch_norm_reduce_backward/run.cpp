#include <cstring>

#include "core/parallel.h"
#include "isa/environment.h"
#include "isa/run_panels.h"
#include "ops/batch_norm_reduce_backward/op.h"

namespace ascend_grad {

using Op = BatchNormReduceBackward;

void Op::run(const Plan& plan, void* const* addresses, void* workspace) {
    if (plan.is_empty) {
        for (int i = 0; i < 4; ++i) {
            if (!plan.wanted[i]) continue;
            const ChannelVector& output = plan.outputs[i];
            char* const to = static_cast<char*>(addresses[kFirstOutput + i]);
            for (int64_t c = 0; c < plan.channels; ++c)
                std::memset(to + c * output.stride, 0,
                            static_cast<size_t>(data_type_size(output.dtype)));
        }
        return;
    }
    const Kernels& kernels = OF_LEVEL_IN_USE(batch_norm_reduce_backward)[kernel_index(plan.dtype)];
    float* partials = plan.in_one_pass ? nullptr : static_cast<float*>(workspace);
    const int threads = threads_for(plan.bytes);
    if (plan.sums.panels.count > 0) {
        char* const memory[] = {static_cast<char*>(addresses[kGradOut]),
                                static_cast<char*>(addresses[kInput])};
        const auto accumulate = [&](const Plan& part, char* const* at, float* sums) {
            void* const dense[] = {at[0], at[1], addresses[kMean]};
            kernels.accumulate(part, dense, sums, 0, part.sums.tasks);
        };
        run_sum_panels(plan, memory, workspace, threads, accumulate);
    } else {
        share_tasks(plan.sums, threads, [&](int64_t begin, int64_t end) {
            kernels.accumulate(plan, addresses, partials, begin, end);
        });
    }
    if (plan.in_one_pass) return;
    const auto partial_bytes = static_cast<int64_t>(plan.sums.partial_bytes());
    parallel_for(
        (plan.channels + kFinishTile - 1) / kFinishTile, threads_for(partial_bytes),
        [&](int64_t begin, int64_t end) { kernels.finish(plan, addresses, partials, begin, end); });
}

}  // namespace ascend_grad
