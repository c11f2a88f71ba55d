#include <algorithm>

#include "core/parallel.h"
#include "core/streaming.h"
#include "isa/environment.h"
#include "isa/run_panels.h"
#include "ops/softmax_backward/op.h"

namespace ascend_grad {

using Op = SoftmaxBackward;

namespace {

// Across rows a tile is read twice, and what ordinary stores bring into the caches drives it out:
// it pays early to go past them. On one thread it does for planes, and along rows (measured).
bool streams(const Op::Plan& plan, int threads) {
    const bool is_across = plan.traversal == Op::Traversal::kAcrossRows;
    const bool is_tile =
        (is_across && !plan.is_plane) || plan.traversal == Op::Traversal::kAcrossToAlong;
    const bool early = is_tile || (threads == 1 && (is_across || plan.rows_fill_lines));
    return plan.streaming_fits &&
           streaming_pays(plan.bytes, early, plan.is_buffered ? Gain::kOnceNotKept : Gain::kAlways);
}

}  // namespace

void Op::run(const Plan& plan, void* const* addresses, void* workspace) {
    if (plan.is_empty) return;
    const Kernels& kernels = OF_LEVEL_IN_USE(softmax_backward)[kernel_index(plan.dtype)];
    const int threads = threads_for(plan.bytes);
    if (plan.panels.count > 0) {
        char* const memory[] = {static_cast<char*>(addresses[0]), static_cast<char*>(addresses[1]),
                                static_cast<char*>(addresses[2])};
        const auto run = [&](char* const* at, int64_t panel) {
            void* const operands[] = {at[0], at[1], at[2]};
            if (plan.panels.in_place == Panels::kAllCopied)
                return kernels.whole(plan, operands, false, 0, plan.panels.tasks);
            const Plan part = panel_plan(plan, panel);
            kernels.whole(part, operands, false, 0, part.tasks);
        };
        return run_panels(plan.panels, memory, workspace, threads, run);
    }
    const bool streaming = streams(plan, threads);
    if (!plan.split) {
        const auto sharing = static_cast<int>(std::min<int64_t>(threads, plan.most_threads));
        parallel_for(plan.tasks, sharing, [&](int64_t begin, int64_t end) {
            kernels.whole(plan, addresses, streaming, begin, end);
        });
        return;
    }
    float* partials = static_cast<float*>(workspace);
    parallel_for(plan.tasks, threads, [&](int64_t begin, int64_t end) {
        kernels.sum_chunks(plan, addresses, partials, begin, end);
    });
    parallel_for(plan.tasks, threads, [&](int64_t begin, int64_t end) {
        kernels.write_chunks(plan, addresses, partials, streaming, begin, end);
    });
}

}  // namespace ascend_grad
