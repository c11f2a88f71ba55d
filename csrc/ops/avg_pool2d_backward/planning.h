// How a plan is made: how its memory is walked, then how that is cut into tasks.
#pragma once

#include <algorithm>

#include "core/cache_line.h"
#include "core/integers.h"
#include "ops/avg_pool2d_backward/op.h"
#include "ops/avg_pool2d_backward/scratch.h"

namespace ascend_grad::pool_planning {

using Op = AvgPool2dBackward;

inline constexpr int64_t kMinPlanes = 32;  // that are gathered

// Rows of grad_input whose elements, and those of their windows, of so many planes fit scratch.
inline int64_t gathered_rows(const Op::Plan& plan, int64_t planes) {
    const PoolAxis& height = plan.height;
    const int64_t positions = pool_scratch::kTransposed / round_up(planes, kMinPlanes);
    const int64_t rows = std::min(height.extent, positions / plan.width.extent);
    const int64_t window_rows = positions / plan.width.windows;
    if (height.windows <= window_rows) return rows;
    const int64_t steps = window_rows - pool_scratch::overlap(height);
    return std::min(rows, std::max<int64_t>(steps, 0) * std::min(height.stride, height.extent));
}

// Elements of grad_output's planes that fit scratch together.
inline int64_t staged_elements(int64_t size) {
    return pool_scratch::kStaged / size;
}
// Planes whose elements fill a cache line of a grad_output whose channels are last.
inline int64_t planes_of_line(int64_t channels, int64_t size) {
    return std::min(channels, kCacheLine / size);
}
// Rows of grad_input whose windows, of so many planes, fit there.
inline int64_t staged_rows(const Op::Plan& plan, int64_t planes, int64_t size) {
    const int64_t window_rows = staged_elements(size) / (planes * plan.width.windows);
    if (window_rows >= plan.height.windows) return plan.height.extent;
    const int64_t steps = window_rows - pool_scratch::overlap(plan.height);
    return std::max<int64_t>(0, steps) * std::min(plan.height.stride, plan.height.extent);
}

// Sets the traversal and what belongs to it.
void choose_traversal(Op::Plan& plan);
// Sets tiles and tasks, once the traversal is chosen.
void cut_into_tasks(Op::Plan& plan, const TensorView& grad_input);

}  // namespace ascend_grad::pool_planning
