#include "core/parallel.h"
#include "core/processor.h"
#include "core/streaming.h"
#include "isa/environment.h"
#include "isa/run_panels.h"
#include "ops/avg_pool2d_backward/op.h"

namespace ascend_grad {

using Op = AvgPool2dBackward;

namespace {

// Measured: in 16 bit all but constant planes; in float windows one apart in short rows, of planes
// that are no whole lines.
bool is_bound_by_arithmetic(const Op::Plan& plan) {
    constexpr int64_t kShortRow = 48;
    const int64_t size = data_type_size(plan.dtype);
    if (size == 2) return plan.traversal != Op::Traversal::kFill;
    const bool runs_along_rows = plan.traversal == Op::Traversal::kAlongWidth ||
                                 plan.traversal == Op::Traversal::kAroundElements;
    return runs_along_rows && plan.width.stride == 1 && plan.width.extent < kShortRow &&
           !are_whole_lines({plan.height.extent * plan.width.extent * size});
}

// Measured: calls are mostly stores, which pay to pass the caches from 4/3 of the usual size on,
// but on one thread from the usual size on where channels of grad_output are last or made so, and
// rows of results are not staged. Only what lies along channels is streamed where it lies.
bool streams(const Op::Plan& plan, int threads) {
    const bool is_along_channels = plan.traversal == Op::Traversal::kAlongChannels;
    const bool has_channels = is_along_channels || plan.staged_channels > 0;
    const bool is_late = threads > 1 || plan.holds_rows || !has_channels;
    const bool is_direct = is_along_channels && !plan.transposes && !plan.holds_rows;
    const bool is_hindered = is_bound_by_arithmetic(plan) && !processor().streams_beside_arithmetic;
    return plan.streaming_fits && !is_hindered &&
           streaming_pays(is_late ? plan.bytes / 4 * 3 : plan.bytes, false, Gain::kAlways) &&
           (is_direct || streaming_pays(plan.bytes, false, Gain::kOnceNotKept));
}

}  // namespace

void Op::run(const Plan& plan, void* const* addresses, void* workspace) {
    if (plan.is_empty) return;
    const Kernels& kernels = OF_LEVEL_IN_USE(avg_pool2d_backward)[kernel_index(plan.dtype)];
    const int threads = threads_for(plan.bytes);
    const bool streaming = streams(plan, threads);
    if (plan.panels.count > 0) {
        char* const memory[] = {static_cast<char*>(addresses[kGradOutput]),
                                static_cast<char*>(addresses[kGradInput])};
        return run_panels(plan.panels, memory, workspace, threads, [&](char* const* at, int64_t) {
            void* const dense[] = {at[0], nullptr, at[1]};
            kernels.run(plan, dense, streaming, 0, plan.panels.tasks);
        });
    }
    parallel_for(plan.tasks, threads, [&](int64_t begin, int64_t end) {
        kernels.run(plan, addresses, streaming, begin, end);
    });
}

}  // namespace ascend_grad
