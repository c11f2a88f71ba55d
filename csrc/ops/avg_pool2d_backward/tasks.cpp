// How a call is cut into tiles and tasks.
#include <numeric>

#include "core/parallel.h"
#include "core/streaming.h"
#include "ops/avg_pool2d_backward/planning.h"

namespace ascend_grad::pool_planning {
namespace {

// Rows of grad_input that are transposed at a time: as many whole cache lines as fit.
int64_t rows_together(const Op::Plan& plan) {
    const int64_t bytes = plan.width.extent * data_type_size(plan.dtype);
    if (plan.width_tiles > 1 || plan.height_stride[1] != bytes) return 1;
    const int64_t pitch = pool_scratch::pitch(plan);
    const int64_t rows =
        std::max<int64_t>(1, pool_scratch::kTransposed / (pitch * plan.width_tile));
    if (rows >= plan.height_tile) return plan.height_tile;
    const int64_t unit = kCacheLine / std::gcd(kCacheLine, bytes);
    return rows < unit ? rows : rows / unit * unit;
}

// As many planes at a time as there is space for, whole or cut into rows, but so few that small
// tensors make several tasks.
int64_t gathered_planes(const Op::Plan& plan) {
    int64_t most = 256;
    while (most > 2 * kMinPlanes && gathered_rows(plan, most) < plan.height.extent)
        most -= kMinPlanes;
    while (most > kMinPlanes && gathered_rows(plan, most) == 0) most -= kMinPlanes;
    const int64_t even = even_part(plan.channels, most);
    return std::min(plan.channels, round_up(even, kMinPlanes));
}

// Makes tasks of so many planes, and rows of them, that what they read fits scratch.
void fit_staged_planes(Op::Plan& plan, int64_t size) {
    const int64_t line = planes_of_line(plan.staged_channels, size);
    const int64_t plane = plan.height.windows * plan.width.windows;
    const int64_t most = std::min(plan.planes_per_task, staged_elements(size) / plane);
    plan.planes_per_task = std::max(line, most / line * line);
    plan.height_tile = std::min(plan.height_tile, staged_rows(plan, plan.planes_per_task, size));
    plan.height_tiles = divide_up(plan.height.extent, plan.height_tile);
    const int64_t rows =
        std::min(plan.height.windows, pool_scratch::reaching(plan.height, plan.height_tile));
    plan.planes.stride[plan.planes.count - 1][0] = rows * plan.width.windows * size;
    if (plan.planes.count > 1) {
        plan.planes.stride[0][0] = plan.planes.extent[1] * plan.planes.stride[1][0];
    }
}

// Channels and columns of a task along channels.
void cut_channels(Op::Plan& plan, const TensorView& grad_input, int64_t size) {
    const PoolAxis& width = plan.width;
    if (plan.gathers) {
        plan.channels = plan.plane_count;
        plan.plane_count = 1;
    } else {
        const int inner = --plan.planes.count;
        plan.channels = plan.planes.extent[inner];
        plan.plane_count /= plan.channels;
        std::copy(plan.planes.stride[inner], plan.planes.stride[inner] + 2, plan.channel_stride);
    }
    plan.channel_tile = plan.gathers ? gathered_planes(plan)
                                     : std::min<int64_t>(plan.channels, pool_scratch::kMaxChannels);
    // Transposed, columns are what is written in one piece.
    const int64_t columns = plan.transposes ? width.extent : std::min<int64_t>(width.extent, 8);
    const int64_t fewest = plan.transposes ? 32 : 16;
    while (plan.channel_tile > fewest && pool_scratch::columns_per_tile(plan) < columns) {
        plan.channel_tile = divide_up(plan.channel_tile, 32) * 16;
    }
    plan.width_tile =
        std::min(width.extent, std::max<int64_t>(1, pool_scratch::columns_per_tile(plan)));
    if (plan.transposes && plan.width_tile > 32 && plan.width_tile < width.extent) {
        plan.width_tile -= plan.width_tile % 32;
    }
    const bool fills_lines = has_whole_lines(grad_input, {plan.channels, plan.channel_tile});
    plan.holds_rows = !plan.transposes && !fills_lines && plan.channel_tile == plan.channels &&
                      plan.width_stride[1] == plan.channels * size;
    if (plan.holds_rows) {
        plan.width_tile = std::min(plan.width_tile, pool_scratch::kTransposed / plan.channels);
    }
    plan.streaming_fits = plan.transposes || plan.holds_rows || fills_lines;
}

// Whose tasks have whole planes.
bool has_whole_planes(Op::Traversal traversal) {
    return traversal == Op::Traversal::kAroundElements ||
           traversal == Op::Traversal::kPickedPlanes || traversal == Op::Traversal::kHeldRows;
}

// Columns of a task that writes results of quotients at once: whole rows or even tiles, which begin
// with a window and, if there are such, with a cache line where rows do.
int64_t tiled_columns(const Op::Plan& plan, int64_t size) {
    constexpr int64_t kMost = pool_scratch::kTiledColumns;
    const int64_t columns = plan.width.extent;
    if (columns <= kMost) return columns;
    const int64_t lines = std::lcm(plan.width.stride, kCacheLine / size);
    const int64_t unit = lines <= kMost ? lines : plan.width.stride;
    const int64_t most = kMost / unit;
    return round_up(divide_up(columns, divide_up(columns, most * unit)), unit);
}

// Columns of a task of rows of planes.
void cut_rows(Op::Plan& plan, int64_t size) {
    plan.channels = plan.channel_tile = 1;
    if (plan.pixel > 1) plan.plane_count /= plan.planes.extent[--plan.planes.count];
    plan.streaming_fits = plan.width_stride[1] == plan.pixel * size;
    const bool has_whole_rows =
        plan.traversal == Op::Traversal::kFill || has_whole_planes(plan.traversal);
    const int64_t elements = pool_scratch::keeps_rows(plan) ? pool_scratch::row_elements(plan)
                                                            : pool_scratch::kMaxColumns;
    plan.width_tile =
        has_whole_rows ? plan.width.extent : std::min(plan.width.extent, elements / plan.pixel);
    if (plan.traversal == Op::Traversal::kTiledColumns) plan.width_tile = tiled_columns(plan, size);
}

}  // namespace

void cut_into_tasks(Op::Plan& plan, const TensorView& grad_input) {
    const PoolAxis& width = plan.width;
    const PoolAxis& height = plan.height;
    const int64_t size = data_type_size(plan.dtype);
    if (plan.traversal == Op::Traversal::kAlongChannels) {
        cut_channels(plan, grad_input, size);
    } else {
        cut_rows(plan, size);
    }
    plan.channel_tiles = divide_up(plan.channels, plan.channel_tile);
    plan.width_tiles = divide_up(width.extent, plan.width_tile);
    const int64_t planes = plan.plane_count;
    const int64_t together =
        plan.staged_channels > 0 ? planes_of_line(plan.staged_channels, size) : 1;
    const int64_t sweeps = divide_up(planes, together) * plan.channel_tiles * plan.width_tiles;
    constexpr int64_t kTaskElements = 16 << 10;
    const int64_t row_elements = plan.width_tile * plan.pixel * plan.channel_tile;
    // A single image is cut into rows even if these are few: threads that share each row would take
    // cache lines from each other.
    const int64_t fewest_rows =
        planes > 1 ? 16 : std::min<int64_t>(16, divide_up(height.extent, 2));
    plan.height_tile =
        std::min(height.extent, sweeps >= 64 || has_whole_planes(plan.traversal)
                                    ? height.extent
                                    : std::max({fewest_rows, divide_up(height.extent * sweeps, 64),
                                                divide_up(kTaskElements, row_elements)}));
    if (plan.gathers) {
        const int64_t rows = gathered_rows(plan, plan.channel_tile);
        plan.height_tile = even_part(height.extent, rows);
    }
    plan.height_tiles = divide_up(height.extent, plan.height_tile);
    plan.rows_together = plan.gathers      ? plan.height_tile
                         : plan.transposes ? rows_together(plan)
                                           : 1;
    // Small planes share a task.
    const bool whole_planes = plan.width_tiles * plan.height_tiles * plan.channel_tiles == 1;
    const int64_t elements = height.extent * width.extent * plan.pixel * plan.channel_tile;
    plan.planes_per_task = whole_planes ? std::max<int64_t>(1, kTaskElements / elements) : 1;
    if (plan.planes_per_task > 32) plan.planes_per_task -= plan.planes_per_task % 32;
    if (plan.staged_channels > 0) fit_staged_planes(plan, size);
    plan.tasks = divide_up(planes, plan.planes_per_task) * plan.channel_tiles * plan.width_tiles *
                 plan.height_tiles;
    plan.most_threads = kAnyThreads;
}

}  // namespace ascend_grad::pool_planning
