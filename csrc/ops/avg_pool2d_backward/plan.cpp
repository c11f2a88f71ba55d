#include <algorithm>
#include <numeric>

#include "core/cache_line.h"
#include "core/integers.h"
#include "core/parallel.h"
#include "core/processor.h"
#include "core/streaming.h"
#include "ops/avg_pool2d_backward/op.h"
#include "ops/avg_pool2d_backward/scratch.h"

namespace ascend_grad {

using Op = AvgPool2dBackward;

namespace {

PoolAxis pool_axis(int64_t extent, int64_t windows, int64_t kernel, int64_t stride, int64_t pad) {
    // Windows that start beyond the input add nothing, which also bounds i * stride. Only one
    // window exists where the stride is longer than all before the input's end, so a smaller one
    // serves as well.
    const int64_t reaching = (extent + pad - 1) / stride + 1;
    return PoolAxis{extent, kernel, std::min(stride, extent + pad), pad,
                    std::min(windows, reaching)};
}

Op::Mode mode_of(const Op::Args& args) {
    if (args.tensors[Op::kGradOutput]->dtype != DataType::kFloat32 || args.cube_math_type == 0) {
        return Op::Mode::kFloat32;
    }
    if (args.cube_math_type == 2 || !soc_info(args.soc).has_float32_cube) return Op::Mode::kFloat16;
    return Op::Mode::kHf32;
}

// Whether every window counts `kernel` elements, or the same number of elements of the input.
bool counts_are_constant(const PoolAxis& axis, bool count_include_pad, int64_t& count) {
    const int64_t last = axis.windows - 1;
    count = axis.counted(0, count_include_pad);
    // Counts rise from the first window and fall towards the last.
    return axis.counted(last, count_include_pad) == count &&
           axis.counted(last / 2, count_include_pad) == count;
}

float constant_divisor(const Op::Plan& plan, int64_t divisor_override) {
    if (divisor_override != 0) return static_cast<float>(divisor_override);
    int64_t rows, columns;
    const bool constant = counts_are_constant(plan.height, plan.count_include_pad, rows) &&
                          counts_are_constant(plan.width, plan.count_include_pad, columns);
    return constant ? static_cast<float>(rows) * static_cast<float>(columns) : 0.0f;
}

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

constexpr int64_t kMinPlanes = 32;  // that are gathered

// Rows of grad_input whose elements, and those of their windows, of so many planes fit scratch.
int64_t gathered_rows(const Op::Plan& plan, int64_t planes) {
    const PoolAxis& height = plan.height;
    const int64_t positions = pool_scratch::kTransposed / round_up(planes, kMinPlanes);
    const int64_t rows = std::min(height.extent, positions / plan.width.extent);
    const int64_t window_rows = positions / plan.width.windows;
    if (height.windows <= window_rows) return rows;
    const int64_t steps = window_rows - pool_scratch::overlap(height);
    return std::min(rows, std::max<int64_t>(steps, 0) * std::min(height.stride, height.extent));
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

// Many planes, dense in both tensors, of short rows under windows that do not overlap and are
// divided alike. Smaller ones than a cache line had better be gathered (measured).
bool picks_planes(const Op::Plan& plan, int64_t size) {
    const PoolAxis &height = plan.height, &width = plan.width;
    const auto are_apart = [](const PoolAxis& axis) {
        return axis.windows == 1 || (axis.windows > 1 && axis.kernel <= axis.stride);
    };
    const auto are_dense = [&](int k, int64_t rows, int64_t columns) {
        return (columns == 1 || plan.width_stride[k] == size) &&
               (rows == 1 || plan.height_stride[k] == columns * size) &&
               plan.planes.stride[0][k] == rows * columns * size;
    };
    return plan.divisor != 0.0f && are_apart(height) && are_apart(width) &&
           width.windows <= pool_scratch::kPickedWindows &&
           width.extent <= pool_scratch::kPickedColumns &&
           height.extent <= pool_scratch::kPlane / width.extent &&
           height.extent * width.extent * size > kCacheLine && plan.plane_count >= kMinPlanes &&
           plan.planes.count == 1 && are_dense(0, height.windows, width.windows) &&
           are_dense(1, height.extent, width.extent);
}

// Windows of 3 x 3 or 5 x 5 elements, one around each element of planes without gaps, where vectors
// along whole planes pay (measured): wider ones fill vectors along rows; narrower ones are gathered
// where they are many.
bool surround_elements(const Op::Plan& plan, int64_t size) {
    const auto surround = [](const PoolAxis& axis) {
        return axis.stride == 1 && axis.pad >= 1 && axis.pad <= pool_scratch::kPlanePad &&
               axis.kernel == 2 * axis.pad + 1 && axis.windows == axis.extent;
    };
    const int64_t columns = plan.width.extent, rows = plan.height.extent;
    const int64_t fewest = size == 2 ? 11 : 8;
    const int64_t most = size == 2 ? pool_scratch::kPlaneColumns : plan.width.pad == 1 ? 32 : 24;
    bool result = surround(plan.height) && surround(plan.width) &&
                  plan.height.pad == plan.width.pad && plan.mode == Op::Mode::kFloat32 &&
                  columns >= fewest && columns <= most && rows <= pool_scratch::kPlane / columns;
    for (int k = 0; k < 2; ++k) {
        result = result && plan.width_stride[k] == size &&
                 (rows == 1 || plan.height_stride[k] == columns * size);
    }
    return result;
}

// Elements of grad_output's planes that fit scratch together.
int64_t staged_elements(int64_t size) {
    return pool_scratch::kStaged / size;
}
// Planes whose elements fill a cache line of a grad_output whose channels are last.
int64_t planes_of_line(int64_t channels, int64_t size) {
    return std::min(channels, kCacheLine / size);
}
// Rows of grad_input whose windows, of so many planes, fit there.
int64_t staged_rows(const Op::Plan& plan, int64_t planes, int64_t size) {
    const int64_t window_rows = staged_elements(size) / (planes * plan.width.windows);
    if (window_rows >= plan.height.windows) return plan.height.extent;
    const int64_t steps = window_rows - pool_scratch::overlap(plan.height);
    return std::max<int64_t>(0, steps) * std::min(plan.height.stride, plan.height.extent);
}

bool stages_whole_planes(const Op::Plan& plan, int64_t size) {
    return plan.staged_channels == 0 ||
           staged_rows(plan, planes_of_line(plan.staged_channels, size), size) ==
               plan.height.extent;
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
    const bool is_heavy = plan.width.stride == 1 && channels >= kManyChannels &&
                          plan.bytes > processor().cached_bytes;
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

void choose_traversal(Op::Plan& plan, int64_t size) {
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
    } else if (surround_elements(plan, size) && stages_whole_planes(plan, size)) {
        plan.traversal = Op::Traversal::kAlongPlanes;
    } else if (has_short_rows(plan, false)) {
        plan.traversal = Op::Traversal::kAlongChannels;
        plan.transposes = plan.gathers = true;
    }
}

// Rows of grad_input that are transposed at a time: as many whole cache lines as fit.
int64_t rows_together(const Op::Plan& plan) {
    const int64_t bytes = plan.width.extent * static_cast<int64_t>(data_type_size(plan.dtype));
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

// Whose vectors run across the ends of rows.
bool has_whole_planes(Op::Traversal traversal) {
    return traversal == Op::Traversal::kAlongPlanes || traversal == Op::Traversal::kPickedPlanes;
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

void cut_into_tasks(Op::Plan& plan, const TensorView& grad_input) {
    const PoolAxis& width = plan.width;
    const PoolAxis& height = plan.height;
    const int64_t size = static_cast<int64_t>(data_type_size(plan.dtype));
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

}  // namespace

int64_t pool_output_extent(int64_t extent, int64_t kernel, int64_t stride, int64_t pad,
                           bool ceil_mode) {
    // pad is at most kernel / 2, so nothing overflows when the two are subtracted first.
    const int64_t span = extent + (pad - (kernel - pad));
    if (span < 0) return ceil_mode && -span < stride && extent + pad > 0 ? 1 : 0;
    int64_t count = (ceil_mode && span % stride != 0 ? span / stride + 1 : span / stride) + 1;
    if (ceil_mode && count - 1 > (extent + pad - 1) / stride) --count;
    return count;
}

Op::Plan Op::direct_plan(const Args& args) {
    const TensorView& grad = *args.tensors[kGradOutput];
    const TensorView& grad_input = *args.tensors[kGradInput];
    const int planes = grad_input.rank - 2;
    const auto axis = [&](int i) {
        return pool_axis(grad_input.shape[planes + i], grad.shape[planes + i],
                         args.kernel_size->at(i), args.strides().at(i), args.padding->at(i));
    };
    Plan plan{};
    plan.dtype = grad_input.dtype;
    if (grad_input.is_empty()) {
        plan.is_empty = true;
        return plan;
    }
    plan.mode = mode_of(args);
    plan.count_include_pad = args.count_include_pad;
    plan.height = axis(0);
    plan.width = axis(1);
    if (grad.is_empty()) plan.height.windows = plan.width.windows = 0;
    plan.planes.operands = 2;
    const TensorView* views[] = {&grad, &grad_input};
    for (int k = 0; k < 2; ++k) {
        plan.height_stride[k] = views[k]->strides[planes];
        plan.width_stride[k] = views[k]->strides[planes + 1];
    }
    for (int i = 0; i < planes; ++i) {
        const int64_t plane_strides[] = {grad.strides[i], grad_input.strides[i]};
        if (grad_input.shape[i] != 1) plan.planes.append(grad_input.shape[i], plane_strides);
    }
    plan.planes.sort();
    plan.planes.merge();
    const int64_t size = static_cast<int64_t>(data_type_size(plan.dtype));
    plan.divisor = plan.height.windows * plan.width.windows == 0
                       ? 1.0f
                       : constant_divisor(plan, args.divisor_override);
    plan.plane_count = plan.planes.iterations();
    plan.pixel = 1;
    int64_t elements;
    if (__builtin_add_overflow(grad.numel, grad_input.numel, &elements)) elements = INT64_MAX;
    plan.bytes = saturated_bytes(elements, size);
    choose_traversal(plan, size);
    cut_into_tasks(plan, grad_input);
    plan.prefetch = processor().far_along_memory ? 6144 : 2048;  // measured
    return plan;
}

}  // namespace ascend_grad
