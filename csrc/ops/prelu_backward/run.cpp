#include <cstring>

#include "core/parallel.h"
#include "core/streaming.h"
#include "isa/environment.h"
#include "isa/run_panels.h"
#include "ops/prelu_backward/op.h"

namespace ascend_grad {

using Op = PreluBackward;

namespace {

// Measured: where grad_input is transposed, ordinary stores lose from half the size on; elsewhere
// early on one thread, but of pieces of lines.
bool streams(const Op::Plan& plan, int threads) {
    if (!plan.streaming_fits) return false;
    if (plan.sums.transposes) return streaming_pays(2 * plan.bytes, false, Gain::kAlways);
    return streaming_pays(plan.bytes, plan.fills_lines && threads == 1, Gain::kAlways);
}

}  // namespace

void Op::run(const Plan& plan, void* const* addresses, void* workspace) {
    if (plan.is_empty) {
        const int64_t count = plan.one_weight ? 1 : plan.channels;
        for (int64_t c = 0; c < count; ++c) {
            char* const to = static_cast<char*>(addresses[kGradWeight]);
            std::memset(to + plan.grad_weight.offset(c, 0), 0,
                        static_cast<size_t>(data_type_size(plan.dtype)));
        }
        return;
    }
    const Kernels& kernels = OF_LEVEL_IN_USE(prelu_backward)[kernel_index(plan.dtype)];
    float* partials = plan.in_one_pass ? nullptr : static_cast<float*>(workspace);
    const int threads = threads_for(plan.bytes);
    if (plan.sums.panels.count > 0) {
        char* const memory[] = {static_cast<char*>(addresses[kGradOutput]),
                                static_cast<char*>(addresses[kSelf]),
                                static_cast<char*>(addresses[kGradInput])};
        const auto accumulate = [&](const Plan& part, char* const* at, float* sums) {
            void* const dense[] = {at[0], at[1], addresses[kWeight], at[2]};
            kernels.accumulate(part, dense, sums, false, 0, part.sums.tasks);
        };
        run_sum_panels(plan, memory, workspace, threads, accumulate);
    } else {
        const bool streaming = streams(plan, threads);
        share_tasks(plan.sums, threads, [&](int64_t begin, int64_t end) {
            kernels.accumulate(plan, addresses, partials, streaming, begin, end);
        });
    }
    if (plan.in_one_pass) return;
    const auto partial_bytes = static_cast<int64_t>(plan.sums.partial_bytes());
    const int64_t tiles = plan.one_weight ? 1 : (plan.channels + kFinishTile - 1) / kFinishTile;
    parallel_for(tiles, threads_for(partial_bytes), [&](int64_t begin, int64_t end) {
        kernels.finish(plan, addresses, partials, begin, end);
    });
}

}  // namespace ascend_grad
