// How much of a tile fits the stack buffers of the pooling kernels.
#pragma once

#include "core/integers.h"
#include "ops/avg_pool2d_backward/op.h"

namespace ascend_grad {
namespace pool_scratch {
namespace {

inline constexpr int64_t kMaxColumns = 512;    // elements of a row of a tile along the width
inline constexpr int64_t kMaxChannels = 1024;  // per tile along channels
inline constexpr int64_t kRows = 64;           // of quotients that are kept, at most
inline constexpr int64_t kMaxMargin = 512;     // of zeros before rows of quotients
inline constexpr int64_t kRing = 20480;        // floats of such rows
inline constexpr int64_t kFloats = 24576;      // of rows along channels, all together
inline constexpr int64_t kTransposed = 16384;  // elements that are transposed at a time
inline constexpr int64_t kStaged = 64 << 10;   // bytes of grad_output that are made dense at a time
inline constexpr int64_t kMostTiled = 32;      // columns of windows side by side, at most
inline constexpr int64_t kTiledColumns = 992;  // of a tile of such, at most
inline constexpr int64_t kPlane = 4096;        // elements of a plane that vectors run along
inline constexpr int64_t kPlaneColumns = 48;   // its columns where these are masked, at most
inline constexpr int64_t kAround = 2;          // elements to each side of a window's own, at most
inline constexpr int64_t kColumnsAround = 64;  // columns of a plane under such windows, at most
inline constexpr int64_t kFewestAround = 8;    // and at least
inline constexpr int64_t kHeldRow = 64;        // columns of a row under windows two apart
inline constexpr int64_t kPickedWindows = 8;   // of a row whose elements are picked, at most
inline constexpr int64_t kPickedColumns = 24;  // of such a row, at most (measured)

// Windows that cover one element, at most.
constexpr int64_t overlap(const PoolAxis& axis) {
    return (axis.kernel - 1) / axis.stride + 1;
}
// Rows of windows that cover one element, at most.
constexpr int64_t row_overlap(const AvgPool2dBackward::Plan& plan) {
    const int64_t windows = plan.height.windows > 0 ? plan.height.windows : 1;
    return windows < overlap(plan.height) ? windows : overlap(plan.height);
}
// Rows of quotients that are kept along the width.
constexpr int64_t ring_rows(const AvgPool2dBackward::Plan& plan) {
    return row_overlap(plan) <= 16 ? 16 : kRows;
}
// Floats before each for windows that do not exist.
constexpr int64_t margin(const AvgPool2dBackward::Plan& plan) {
    const int64_t windows = overlap(plan.width) - 1;
    if (windows > kMaxMargin) return windows;
    return round_up((windows > 0 ? windows : 1) * plan.pixel, 16);
}
// Elements of a row that fit.
constexpr int64_t row_elements(const AvgPool2dBackward::Plan& plan) {
    const int64_t elements = kRing / ring_rows(plan) - margin(plan) - 64;
    return elements < kMaxColumns ? elements : kMaxColumns;
}
// Whether the windows that cover an element are few enough to keep their rows.
constexpr bool keeps_rows(const AvgPool2dBackward::Plan& plan) {
    return row_overlap(plan) <= ring_rows(plan) && margin(plan) <= kMaxMargin &&
           row_elements(plan) >= 64;
}
// Windows that reach one of `columns` neighbouring elements, at most.
constexpr int64_t reaching(const PoolAxis& axis, int64_t columns) {
    return (columns - 1) / axis.stride + 1 + overlap(axis);
}

// Rows of quotients to keep along channels: those that one row of grad_input needs, rounded up to a
// power of two, and one for their sum. Of too many rows one at a time is added to the sum.
constexpr int64_t kept_rows(const AvgPool2dBackward::Plan& plan) {
    constexpr int64_t kAlways = 16;  // otherwise whole rows of windows must fit
    int64_t rows = 1;
    while (rows < row_overlap(plan) && rows < kRows) rows *= 2;
    const bool fits = rows >= row_overlap(plan) &&
                      reaching(plan.width, plan.width.extent) <= kFloats / 32 / (rows + 1);
    return rows <= kAlways || fits ? rows + 1 : 2;
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
