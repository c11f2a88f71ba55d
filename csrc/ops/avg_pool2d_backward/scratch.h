// How much of a tile fits the stack buffers of the pooling kernels.
#pragma once

#include "core/integers.h"
#include "ops/avg_pool2d_backward/op.h"

namespace ascend_grad {
namespace pool_scratch {
namespace {

inline constexpr int64_t kMaxColumns = 512;    // of grad_input per tile along the width
inline constexpr int64_t kMaxChannels = 1024;  // per tile along channels
inline constexpr int64_t kRows = 16;           // of quotients that are kept, at most
inline constexpr int64_t kFloats = 24576;      // of rows along channels, all together
inline constexpr int64_t kTransposed = 16384;  // elements that are transposed at a time

// Windows that cover one element, at most.
constexpr int64_t overlap(const PoolAxis& axis) {
    return (axis.kernel - 1) / axis.stride + 1;
}
// Whether the windows that cover an element are few enough to keep their rows.
constexpr bool keeps_rows(const AvgPool2dBackward::Plan& plan) {
    return overlap(plan.height) <= kRows && overlap(plan.width) <= kRows;
}
// Windows that reach one of `columns` neighbouring elements, at most.
constexpr int64_t reaching(const PoolAxis& axis, int64_t columns) {
    return (columns - 1) / axis.stride + 1 + overlap(axis);
}

// Rows of quotients to keep along channels: those that one row of grad_input needs, rounded up to a
// power of two, and one for their sum. Of too many rows one at a time is added to the sum.
constexpr int64_t kept_rows(const AvgPool2dBackward::Plan& plan) {
    int64_t rows = 1;
    if (overlap(plan.height) > kRows) return 2;
    while (rows < overlap(plan.height)) rows *= 2;
    return rows + 1;
}
// Whether vectors can run along channels: the windows of one column fit.
constexpr bool keeps_columns(const AvgPool2dBackward::Plan& plan) {
    return overlap(plan.width) < kFloats / 32 / kept_rows(plan);
}
// Elements from one column's channels to the next one's.
constexpr int64_t pitch(const AvgPool2dBackward::Plan& plan) {
    return round_up(plan.channel_tile, 32);
}
// Columns of grad_input whose windows' channels fit; may be less than 1.
constexpr int64_t columns_per_tile(const AvgPool2dBackward::Plan& plan) {
    // Measured: transposed, that whole rows fit counts for more than the nearest cache.
    const int64_t floats = plan.transposes ? kFloats : kFloats / 2;
    const int64_t windows = floats / (kept_rows(plan) * pitch(plan)) - overlap(plan.width) - 1;
    const int64_t columns =
        windows < kFloats / plan.width.stride ? windows * plan.width.stride + 1 : kFloats;
    const int64_t most = plan.transposes ? kTransposed / pitch(plan) : kFloats;
    return columns < most ? columns : most;
}

}  // namespace
}  // namespace pool_scratch
}  // namespace ascend_grad
