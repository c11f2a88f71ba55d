#include <algorithm>

#include "core/cache_line.h"
#include "core/integers.h"
#include "core/parallel.h"
#include "core/processor.h"
#include "core/streaming.h"
#include "core/sum_block.h"
#include "ops/softmax_backward/op.h"

namespace ascend_grad {

using Op = SoftmaxBackward;

namespace {

constexpr int64_t kInputs = 2;
constexpr int64_t kLanes = kSumLanes;
constexpr int64_t kMinColumns = 64;  // rows of a group when walking across rows
// Of inputs that should still be cached when out is written. Long runs of memory count more than
// the second cache: it pays where they stay this long and do not compete for the same places of
// it, as those do that lie pages apart (measured); else the third one serves. They count more than
// that one, too.
constexpr int64_t kNearTileBytes = 1 << 20;
constexpr int64_t kNearRunBytes = 1024;
constexpr int64_t kFarTileBytes = 16 << 20;
constexpr int64_t kFarRunBytes = 2048;
constexpr int64_t kPage = 4096;
constexpr int64_t kMostRunBytes = kPage;  // across rows; longer ones take 1.1 times as long
constexpr double kUneven = 1.1;  // a share over the mean that costs less than shorter runs do
constexpr int64_t kColumnsPerLine = 6;    // of planes whose columns are summed one by one, at least
constexpr int64_t kTaskBytes = 64 << 10;  // of rows along memory

// Whether neighbours are `step` elements apart in the inputs.
bool inputs_step(int64_t step, const int64_t* strides, const TensorView* const* tensors) {
    for (int k = 0; k < Op::kOut; ++k) {
        if (strides[k] != step * data_type_size(tensors[k]->dtype)) return false;
    }
    return true;
}
bool out_steps(int64_t step, const int64_t* strides, const TensorView* const* tensors) {
    return strides[Op::kOut] == step * data_type_size(tensors[Op::kOut]->dtype);
}

// Tensors that have a row's elements nearer than neighbouring rows.
int tensors_along_rows(const Op::Plan& plan) {
    const int inner = plan.rows.count - 1;
    int result = 0;
    for (int k = 0; k < 3; ++k) {
        result += magnitude(plan.stride[k]) < magnitude(plan.rows.stride[inner][k]) ||
                  plan.rows.extent[inner] == 1;
    }
    return result;
}

// Sets step, is_plane and stages_along as well.
Op::Traversal choose_traversal(Op::Plan& plan, const TensorView* const* tensors) {
    using Traversal = Op::Traversal;
    const int inner = plan.rows.count - 1;
    const int64_t* across = plan.rows.stride[inner];
    const int64_t neighbours = plan.rows.extent[inner];
    // Results of another dtype are rare: kernels for all of them took half of the time to compile.
    // Only between float and 16 bit are there some.
    const bool converts = plan.out_dtype != plan.dtype;
    const bool is_float = plan.dtype == DataType::kFloat32 || plan.out_dtype == DataType::kFloat32;
    const bool has_dtypes = !converts || (is_float && plan.out_dtype != DataType::kFloat64);
    const auto all = [&](int64_t step, int64_t out_step, const int64_t* strides) {
        return inputs_step(step, strides, tensors) && out_steps(out_step, strides, tensors);
    };
    plan.step = !converts && plan.length > kLanes && all(2, 1, plan.stride) ? 2 : 1;
    const bool has_kernel =
        has_dtypes && (!converts || !Op::is_small_plane(plan.length, neighbours, true));
    plan.is_plane = has_kernel && all(1, 1, across) && all(neighbours, neighbours, plan.stride) &&
                    neighbours <= Op::kMaxColumns;
    const bool is_across =
        has_kernel && all(1, 1, across) && (plan.is_plane || neighbours >= kLanes / 2);
    const bool along =
        has_dtypes && all(plan.step, 1, plan.stride) && (!converts || plan.length >= kLanes);
    if (is_across && (plan.length == 1 || !along)) return Traversal::kAcrossRows;
    if (along) {
        plan.is_plane = false;
        return Traversal::kAlongRows;
    }
    // Made of rows where most tensors have their elements nearer than rows, but not where another
    // one would have them copied one by one: too few rows of a tile are neighbours.
    const int along_count = tensors_along_rows(plan);
    const bool are_long = std::min(plan.length, kSumBlock) > kStagedElements / kLanes;
    plan.stages_along = plan.length > 1 && along_count > 1 &&
                        !(along_count < 3 && are_long && neighbours >= kMinColumns);
    if (converts || std::min(plan.length, neighbours) < kLanes / 2) return Traversal::kStaged;
    if (inputs_step(1, plan.stride, tensors) && out_steps(1, across, tensors))
        return Traversal::kAlongToAcross;
    if (inputs_step(1, across, tensors) && out_steps(1, plan.stride, tensors))
        return Traversal::kAcrossToAlong;
    return Traversal::kStaged;
}

// Such elements of a row compete for the same places of the first and second cache.
bool lie_pages_apart(const Op::Plan& plan) {
    return plan.stride[0] % kPage == 0 || plan.stride[1] % kPage == 0;
}

// How many threads had better share neighbouring rows, of which each writes a strip of a plane.
int threads_of_plane(const Op::Plan& plan) {
    const int inner = plan.rows.count - 1;
    const bool are_strips = plan.length > 1 && magnitude(plan.stride[2]) >= kCacheLine &&
                            magnitude(plan.rows.stride[inner][2]) < kCacheLine;
    if (!are_strips) return kAnyThreads;
    const int64_t planes = plan.rows.iterations() / plan.rows.extent[inner];
    return threads_for_written_runs(plan.bytes / (planes * plan.length), plan.bytes);
}
// Whether neighbouring rows, cut into so many parts, make even shares: for even_share().
auto is_even(const Op::Plan& plan) {
    const int64_t extent = plan.rows.extent[plan.rows.count - 1];
    const int64_t outer = plan.rows.iterations() / extent;
    const int threads = std::min(threads_for(plan.bytes), threads_of_plane(plan));
    return [=](int64_t parts) { return are_even(outer * parts, threads, kUneven); };
}

// Neighbouring rows that a tile spans: many, for long runs of memory, as long as the tile stays in
// the cache and threads get even shares.
int64_t column_count(const Op::Plan& plan) {
    const int64_t element_bytes = kInputs * data_type_size(plan.dtype);
    const int64_t extent = plan.rows.extent[plan.rows.count - 1];
    const bool is_across = plan.traversal == Op::Traversal::kAcrossRows && !plan.is_plane;
    const bool is_near = is_across && !lie_pages_apart(plan) &&
                         plan.length <= kNearTileBytes / (kInputs * kNearRunBytes);
    const int64_t tile_bytes = is_near ? kNearTileBytes : kFarTileBytes;
    const int64_t run_bytes = is_near ? kNearRunBytes : kFarRunBytes;
    const bool is_transposed = plan.traversal == Op::Traversal::kAcrossToAlong;
    int64_t columns = is_across       ? kInputs * kMostRunBytes / element_bytes
                      : is_transposed ? Op::kMostCollected
                                      : Op::kMaxColumns;
    while (columns * element_bytes > kInputs * run_bytes &&
           plan.length > tile_bytes / (columns * element_bytes))
        columns /= 2;
    constexpr int64_t kUnit = 2 * kLanes;
    return kUnit * even_share(divide_up(extent, kUnit), columns / kUnit, kMinColumns / kUnit,
                              is_even(plan));
}

// kAcrossRows: whether what is written in one piece is whole cache lines, but for a few.
bool runs_fill_lines(const Op::Plan& plan, const TensorView& out) {
    if (has_whole_lines(out, {plan.rows_per_group})) return true;
    const auto size = data_type_size(out.dtype);
    // Else no element would begin with a line.
    bool is_aligned = reinterpret_cast<intptr_t>(out.data) % size == 0;
    for (int i = 0; i < out.rank; ++i)
        is_aligned = is_aligned && (out.shape[i] == 1 || out.strides[i] % size == 0);
    return is_aligned && plan.rows_per_group * size >= kNearRunBytes;
}

// Lines that two groups write a part of, in every run of memory, cost more than the few sums that
// both make otherwise. Where results replace inputs another group may still have to read these.
int32_t rows_beyond(const Op::Plan& plan, const TensorView& out, bool is_in_place) {
    const auto size = data_type_size(out.dtype);
    const bool are_parts = plan.traversal == Op::Traversal::kAcrossRows && plan.groups_per_loop > 1;
    if (is_in_place || !are_parts || has_whole_lines(out, {plan.rows_per_group})) return 0;
    return static_cast<int32_t>(kCacheLine / size - 1);
}

// Across rows: whether all neighbouring ones, which may be many groups, fill memory without a gap.
bool rows_are_dense(const Op::Plan& plan) {
    const int inner = plan.rows.count - 1;
    for (int k = 0; k < 3; ++k) {
        if (plan.stride[k] != plan.rows.extent[inner] * plan.rows.stride[inner][k]) return false;
    }
    return true;
}

// Results that are transposed: whether what they do not fill of cache lines is kept until it does.
// Of shorter columns too much begins and ends in other columns' lines (measured).
bool collects(const Op::Plan& plan, const TensorView& out) {
    constexpr int64_t kLeastColumn = 192;
    const int inner = plan.rows.count - 1;
    const int64_t extent = plan.rows.extent[inner];
    const auto size = data_type_size(out.dtype);
    if (plan.traversal == Op::Traversal::kAcrossToAlong)
        return plan.length * size >= kLeastColumn && !has_whole_lines(out, {plan.length});
    if (plan.traversal != Op::Traversal::kAlongToAcross || plan.chunks > 1 ||
        plan.length > Op::kMostCollected || has_whole_lines(out, {extent, plan.rows_per_group}))
        return false;
    int64_t column = extent * size;
    for (int i = inner - 1; i >= 0 && plan.rows.stride[i][2] == column; --i)
        column *= plan.rows.extent[i];
    return column >= kLeastColumn;
}

// Planes of few elements one after the other.
bool has_small_planes(const Op::Plan& plan) {
    const int inner = plan.rows.count - 1;
    if (!plan.is_plane || inner < 1 || plan.out_dtype != plan.dtype) return false;
    if (!Op::is_small_plane(plan.length, plan.rows.extent[inner])) return false;
    for (int k = 0; k < 3; ++k) {
        if (plan.rows.stride[inner - 1][k] != plan.stride[k] * plan.length) return false;
    }
    return true;
}

// Neighbouring rows of a tile: as many as fit with a chunk of each, or with sixteen elements.
int64_t staged_rows(const Op::Plan& plan) {
    const int64_t extent = plan.rows.extent[plan.rows.count - 1];
    if (!plan.stages_along && extent <= std::min(kStagedElements / plan.chunk, Op::kMaxColumns))
        return extent;
    if (plan.stages_along && plan.chunks > 1) return 1;
    // Whole vectors of rows are transposed.
    const int64_t along = kStagedElements / plan.chunk;
    const bool transposes = tensors_along_rows(plan) < 3 && along >= kLanes;
    const int64_t unit = plan.stages_along && !transposes ? 1 : kLanes;
    const int64_t most = plan.stages_along ? along / unit * unit : Op::kStagedColumns;
    const int64_t least = plan.stages_along ? unit : kMinColumns;
    return unit * even_share(divide_up(extent, unit), most / unit, least / unit, is_even(plan));
}

void cut_into_tasks(Op::Plan& plan, int64_t row_bytes) {
    plan.chunk = even_block(plan.length, kSumBlock);
    plan.chunks = divide_up(plan.length, plan.chunk);
    switch (plan.traversal) {
        case Op::Traversal::kAlongRows:
            // From a cache a thread takes all its rows at a time: by single ones shares are even.
            plan.rows_per_group =
                comes_from_memory(plan.bytes) ? std::max<int64_t>(1, kTaskBytes / row_bytes) : 1;
            break;
        case Op::Traversal::kAcrossRows:
        case Op::Traversal::kAlongToAcross:
        case Op::Traversal::kAcrossToAlong:
            plan.rows_per_group = column_count(plan);
            break;
        case Op::Traversal::kStaged:
            plan.rows_per_group = staged_rows(plan);
            break;
    }
    const int inner = plan.rows.count - 1;
    const int64_t extent = plan.rows.extent[inner];
    plan.rows_per_group = std::min(plan.rows_per_group, extent);
    plan.is_plane = plan.is_plane && plan.rows_per_group == extent;
    plan.has_small_planes = has_small_planes(plan);
    plan.groups_per_loop = divide_up(extent, plan.rows_per_group);
    plan.groups_per_tile =
        plan.chunks > 1
            ? 1
            : std::max<int64_t>(1, kStagedElements / (plan.chunk * plan.rows_per_group));
    plan.groups = plan.rows.iterations() / extent * plan.groups_per_loop;
    const int64_t planes = plan.rows.iterations() / extent;
    plan.most_threads = std::min<int64_t>(planes, kAnyThreads) * threads_of_plane(plan);

    // Were groups the smallest: no number of threads changes this.
    const int64_t smallest = std::min(plan.rows_per_group, kMinColumns);
    const int64_t most_groups = plan.rows.iterations() / extent * divide_up(extent, smallest);
    plan.split = most_groups < 16 && plan.chunks >= 16;
    plan.tasks =
        plan.split ? plan.groups * divide_up(plan.chunks, Op::kChunksPerTask) : plan.groups;
    if (plan.split) {
        plan.workspace_size =
            static_cast<uint64_t>(plan.rows.iterations() * plan.chunks) * sizeof(float);
    }
}

// Two planes have to fit the second cache. Tasks that are chunks go from plane to plane too seldom.
bool asks_for_next_plane(const Op::Plan& plan, int64_t size) {
    constexpr int64_t kSmall = 32 << 10;
    constexpr int64_t kSmallNarrowBytes = 4 << 20, kNarrowBytes = 20 << 20;  // from where it pays
    const int64_t inputs = saturated_bytes(plan.length, 2 * size * plan.rows_per_group);
    if (plan.rows.count == 1 || plan.split || inputs > kNearTileBytes / 2) return false;
    const bool is_narrow = size == 2, is_small = inputs <= kSmall;
    switch (processor().next_plane) {
        case NextPlane::kNone:
            return false;
        case NextPlane::kFromMemory:
            return comes_from_memory(plan.bytes);
        case NextPlane::kSmallOrNarrow:
            if (!is_narrow) return is_small && comes_from_memory(plan.bytes);
            return plan.bytes > (is_small ? kSmallNarrowBytes : kNarrowBytes);
    }
    return false;
}

// Of rows across memory: whether sums of sixteen columns at a time, in registers, cost less than
// those of all in memory (measured): of few elements that do not compete for places (more than
// sixteen from memory only on Zen 4), and of planes that come from a cache or are asked for.
bool sums_by_columns(const Op::Plan& plan) {
    if (!plan.is_plane) {
        const bool finds_many = !comes_from_memory(plan.bytes) || !processor().along_memory;
        return plan.length <= (finds_many && !lie_pages_apart(plan) ? 2 * kLanes : kLanes);
    }
    return kColumnsPerLine * plan.length <= plan.rows_per_group &&
           (plan.asks || !streaming_pays(plan.bytes, false, Gain::kOnceNotKept));
}

}  // namespace

Op::Plan Op::direct_plan(const Args& args) {
    const TensorView& grad = *args.tensors[kGradOutput];
    const TensorView& out = *args.tensors[kOut];
    Plan plan{};
    plan.is_empty = args.is_empty();
    plan.dtype = grad.dtype;
    plan.out_dtype = out.dtype;
    if (plan.is_empty) return plan;
    plan.length = 1;
    plan.rows.operands = 3;
    const int dim = args.axis();
    for (int axis = 0; axis < grad.rank; ++axis) {
        int64_t strides[3];
        for (int k = 0; k < 3; ++k) strides[k] = args.tensors[k]->strides[axis];
        if (axis == dim) {
            plan.length = grad.shape[axis];
            std::copy(strides, strides + 3, plan.stride);
        } else if (grad.shape[axis] != 1) {
            plan.rows.append(grad.shape[axis], strides);
        }
    }
    plan.rows.sort();
    plan.rows.merge();
    if (plan.rows.count == 0) plan.rows.append(1, plan.stride);
    plan.traversal = choose_traversal(plan, args.tensors);
    const int64_t size = data_type_size(grad.dtype);
    const int64_t out_size = data_type_size(out.dtype);
    plan.bytes = saturated_bytes(grad.numel, 2 * size + out_size);
    cut_into_tasks(plan, saturated_bytes(plan.length, 2 * size + out_size));
    // What was summed must still be cached when it is written.
    plan.reads_next_row =
        plan.traversal == Traversal::kAlongRows && plan.chunks > 1 && processor().reads_next_row &&
        saturated_bytes(plan.length, 2 * kInputs * plan.step * size + out_size) <= kNearTileBytes;
    // Rows from a cache gain nothing by it, and it costs instructions.
    plan.asks = plan.is_plane ? asks_for_next_plane(plan, size)
                              : comes_from_memory(plan.bytes) && processor().along_memory;
    plan.by_columns = sums_by_columns(plan);
    plan.asks_for_rows = plan.asks && processor().far_along_memory &&
                         plan.dtype == DataType::kFloat32 && plan.out_dtype == plan.dtype &&
                         plan.traversal == Traversal::kAlongRows && plan.step == 1 &&
                         plan.chunks == 1;
    plan.asks_for_stores = processor().along_memory;
    plan.asks_into_second = processor().into_second;
    const bool is_in_place = out.data == grad.data || out.data == args.tensors[kOutput]->data;
    plan.rows_beyond = rows_beyond(plan, out, is_in_place);
    plan.wraps = !plan.split && rows_are_dense(plan);
    plan.streaming_fits =
        !is_in_place && plan.traversal != Traversal::kStaged &&
        (plan.traversal != Traversal::kAcrossRows || plan.is_plane || runs_fill_lines(plan, out));
    plan.rows_fill_lines =
        plan.traversal == Traversal::kAlongRows && has_whole_lines(out, {plan.length, plan.chunk});
    plan.collects = collects(plan, out);
    const int64_t row_bytes = saturated_bytes(plan.length, size);
    plan.is_buffered =
        plan.traversal == Traversal::kAlongRows
            ? row_bytes < kShortRow || (row_bytes < kLongRun && !plan.rows_fill_lines)
            : plan.is_plane;
    return plan;
}

}  // namespace ascend_grad
