// How the memory of a call is walked.
#include "core/processor.h"
#include "ops/avg_pool2d_backward/planning.h"

namespace ascend_grad::pool_planning {
namespace {

// Windows lie side by side from the first element on.
bool windows_tile(const PoolAxis& axis) {
    return axis.kernel == axis.stride && axis.pad == 0 && axis.windows > 0;
}
// Of columns, whether there is a loop that makes results of quotients at once, and it pays: shorter
// rows had better be gathered (measured).
bool tile_columns(const PoolAxis& width) {
    constexpr int64_t kFewest = 10;
    if (!windows_tile(width) || width.kernel > pool_scratch::kMostTiled) return false;
    return width.kernel == 2 ? width.windows * 2 == width.extent
                             : width.kernel > 2 && width.extent >= kFewest;
}

// Channels last in both tensors, pixels one behind the other.
bool has_pixels(const Op::Plan& plan, int64_t size) {
    const int inner = plan.planes.count - 1;
    if (inner < 0) return false;
    const int64_t bytes = plan.planes.extent[inner] * size;
    const int64_t* stride = plan.planes.stride[inner];
    return stride[0] == size && stride[1] == size &&
           (plan.width.windows == 1 || plan.width_stride[0] == bytes) &&
           (plan.width.extent == 1 || plan.width_stride[1] == bytes);
}

// Many planes of rows so short that it pays to gather them, so that vectors run along planes
// (measured).
bool has_short_rows(const Op::Plan& plan, bool has_pixels) {
    const int64_t columns = plan.width.extent, stride = plan.width.stride;
    const bool is_short = has_pixels ? columns <= (stride == 1 ? 5 : 10)
                                     : columns <= (stride == 1   ? 10
                                                   : stride == 2 ? 12
                                                                 : 20);
    return is_short && plan.plane_count >= kMinPlanes &&
           plan.height.windows * plan.width.windows > 0 && pool_scratch::keeps_columns(plan) &&
           gathered_rows(plan, kMinPlanes) > 0;
}

// Whether rows of both tensors, and what a plane has of them, lie without gaps.
bool has_dense_planes(const Op::Plan& plan, int64_t size) {
    const auto is_dense = [&](int k, int64_t rows, int64_t columns) {
        return (columns == 1 || plan.width_stride[k] == size) &&
               (rows == 1 || plan.height_stride[k] == columns * size);
    };
    return is_dense(0, plan.height.windows, plan.width.windows) &&
           is_dense(1, plan.height.extent, plan.width.extent);
}

// Many planes, dense in both tensors, of short rows under windows that do not overlap and are
// divided alike. Smaller ones than a cache line had better be gathered (measured).
bool picks_planes(const Op::Plan& plan, int64_t size) {
    const PoolAxis &height = plan.height, &width = plan.width;
    const auto are_apart = [](const PoolAxis& axis) {
        return axis.windows == 1 || (axis.windows > 1 && axis.kernel <= axis.stride);
    };
    const auto follow = [&](int k, int64_t elements) {
        return plan.planes.stride[0][k] == elements * size;
    };
    return plan.divisor != 0.0f && are_apart(height) && are_apart(width) &&
           width.windows <= pool_scratch::kPickedWindows &&
           width.extent <= pool_scratch::kPickedColumns &&
           height.extent <= pool_scratch::kPlane / width.extent &&
           height.extent * width.extent * size > kCacheLine && plan.plane_count >= kMinPlanes &&
           plan.planes.count == 1 && has_dense_planes(plan, size) &&
           follow(0, height.windows * width.windows) && follow(1, height.extent * width.extent);
}

// Windows of 3 x 3 or 5 x 5 elements, one around each element, in rows of few columns: narrower
// ones are gathered where they are many.
bool surround_elements(const Op::Plan& plan, int64_t size) {
    const auto surround = [](const PoolAxis& axis) {
        return axis.stride == 1 && axis.pad >= 1 && axis.pad <= pool_scratch::kAround &&
               axis.kernel == 2 * axis.pad + 1 && axis.windows == axis.extent;
    };
    const int64_t columns = plan.width.extent;
    const int64_t fewest = size == 2 ? 11 : pool_scratch::kFewestAround;
    return surround(plan.height) && surround(plan.width) && plan.height.pad == plan.width.pad &&
           columns >= fewest && columns <= pool_scratch::kColumnsAround;
}
// Windows of 3 x 3 elements, two apart, in rows of few columns; at most one row of windows that
// elements need does not exist (the C interface takes any number).
bool can_hold_rows(const Op::Plan& plan) {
    const auto fit = [](const PoolAxis& axis) {
        return axis.kernel == 3 && axis.stride == 2 && axis.windows > 1 &&
               axis.windows >= (axis.extent - 1 + axis.pad) / 2;
    };
    return fit(plan.height) && fit(plan.width) && plan.height.pad == plan.width.pad &&
           plan.width.extent <= pool_scratch::kHeldRow;
}

// Whether a task may have whole planes whose quotients lie in scratch.
bool takes_whole_planes(const Op::Plan& plan, int64_t size) {
    const int64_t rows = std::max(plan.height.extent, plan.height.windows);
    const int64_t columns = std::max(plan.width.extent, plan.width.windows);
    const bool stages_whole =
        plan.staged_channels == 0 ||
        staged_rows(plan, planes_of_line(plan.staged_channels, size), size) == plan.height.extent;
    return plan.mode == Op::Mode::kFloat32 && rows <= pool_scratch::kPlane / columns &&
           has_dense_planes(plan, size) && stages_whole;
}

// Has tasks make planes of grad_output dense where its channels are last and grad_input's rows
// contiguous, if it pays (measured): not for short rows, nor for windows one apart, whose
// grad_output is as large as grad_input, from memory and with vectors of channels.
void stage_gradient(Op::Plan& plan, int64_t size) {
    constexpr int64_t kManyChannels = 32;
    const int inner = plan.planes.count - 1;
    const int64_t windows = plan.width.windows;
    if (inner < 0 || windows < 2 || plan.planes.stride[inner][0] != size) return;
    const int64_t channels = plan.planes.extent[inner];
    const bool is_heavy =
        plan.width.stride == 1 && channels >= kManyChannels && comes_from_memory(plan.bytes);
    if (plan.width_stride[0] != channels * size || plan.width_stride[1] != size || is_heavy ||
        has_short_rows(plan, false) || !pool_scratch::keeps_rows(plan) ||
        plan.width.extent > pool_scratch::row_elements(plan))
        return;
    const int64_t rows = staged_rows(plan, planes_of_line(channels, size), size);
    if (rows < std::min(plan.height.extent, 2 * plan.height.kernel)) return;
    plan.staged_channels = channels;
    plan.staged_item = inner > 0 ? plan.planes.stride[0][0] : 0;
    plan.staged_row = plan.height_stride[0];
    plan.width_stride[0] = size;
    plan.height_stride[0] = windows * size;
    const int64_t plane_bytes = plan.height.windows * windows * size;
    plan.planes.stride[inner][0] = plane_bytes;
    if (inner > 0) plan.planes.stride[0][0] = channels * plane_bytes;
    plan.planes.merge();
}

// Takes channels that are last as pixels of rows where they are too few for vectors along them
// (measured); else false.
bool take_pixels(Op::Plan& plan) {
    plan.pixel = plan.planes.extent[plan.planes.count - 1];
    if (plan.pixel < (plan.width.stride == 1 ? 32 : 16) && pool_scratch::keeps_rows(plan))
        return true;
    plan.pixel = 1;
    return false;
}

}  // namespace

void choose_traversal(Op::Plan& plan) {
    const auto size = data_type_size(plan.dtype);
    const bool planes_contiguous =
        plan.width_stride[1] == size &&
        (plan.height.extent == 1 || plan.height_stride[1] == plan.width.extent * size);
    const bool fills = planes_contiguous && plan.height.lies_in_one_window() &&
                       plan.width.lies_in_one_window() && plan.divisor != 0.0f;
    if (!fills) stage_gradient(plan, size);
    const int inner = plan.planes.count - 1;
    const int64_t channels = inner >= 0 ? plan.planes.extent[inner] : 1;
    const bool has_channels =
        channels >= 8 && plan.planes.stride[inner][0] == size && pool_scratch::keeps_columns(plan);
    const bool along_channels = has_channels && plan.planes.stride[inner][1] == size;
    const bool pixels = has_pixels(plan, size);
    // Of one window in a short row whole planes had better be written at once (measured).
    const bool gathers_one = plan.width.windows == 1 && has_short_rows(plan, false);
    const bool picks = plan.staged_channels == 0 && picks_planes(plan, size);
    const bool whole_planes = takes_whole_planes(plan, size);
    plan.traversal = Op::Traversal::kAlongWidth;
    if (fills && (!along_channels || plan.height.extent * plan.width.extent == 1)) {
        plan.traversal = Op::Traversal::kFill;
    } else if (picks) {
        plan.traversal = Op::Traversal::kPickedPlanes;
    } else if (pixels && channels <= 16 && has_short_rows(plan, true)) {
        plan.traversal = Op::Traversal::kAlongChannels;
        plan.transposes = plan.gathers = true;
    } else if (pixels && take_pixels(plan)) {
        plan.traversal = Op::Traversal::kAlongWidth;
    } else if (along_channels || (has_channels && plan.width_stride[1] == size && !gathers_one)) {
        plan.traversal = Op::Traversal::kAlongChannels;
        plan.transposes = !along_channels;
    } else if (windows_tile(plan.height) && tile_columns(plan.width) && plan.divisor != 0.0f &&
               plan.width_stride[1] == size &&
               (plan.width_stride[0] == size || plan.width_stride[0] == 2 * size)) {
        plan.traversal = Op::Traversal::kTiledColumns;
    } else if (whole_planes && surround_elements(plan, size)) {
        plan.traversal = Op::Traversal::kAroundElements;
    } else if (whole_planes && can_hold_rows(plan) && !has_short_rows(plan, false)) {
        plan.traversal = Op::Traversal::kHeldRows;
    } else if (has_short_rows(plan, false)) {
        plan.traversal = Op::Traversal::kAlongChannels;
        plan.transposes = plan.gathers = true;
    }
}

}  // namespace ascend_grad::pool_planning
