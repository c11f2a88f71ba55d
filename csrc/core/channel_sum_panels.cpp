// Channel sums that are cut into panels (core/panels.h).
#include <algorithm>
#include <numeric>

#include "core/cache_line.h"
#include "core/channel_sum_walk.h"
#include "core/integers.h"
#include "core/streaming.h"

namespace ascend_grad {
namespace {

// How the nearest elements of an operand follow each other: along positions that a tile has, along
// channels, or across what it has. Unknown where few channels or rows are nearest; few positions do
// not count.
enum class Nearest { kUnknown, kPositions, kChannels, kAcross };
Nearest nearest_elements(const ChannelSumPlan& plan, int operand, int64_t size) {
    constexpr int64_t kFew = 8;
    if (has_runs_of_positions(plan, operand, size)) return Nearest::kPositions;
    Nearest result = Nearest::kUnknown;
    int64_t nearest = INT64_MAX;
    const auto look = [&](const int64_t* strides, int64_t extent, Nearest kind) {
        const int64_t stride = magnitude(strides[operand]);
        if (extent == 1 || stride == 0 || stride >= nearest) return;
        nearest = stride;
        result = extent < kFew ? Nearest::kUnknown : kind;
    };
    look(plan.channel_stride, plan.channels, Nearest::kChannels);
    look(plan.row_stride, plan.rows, Nearest::kAcross);
    for (int i = 0; i < plan.positions.count; ++i) {
        if (plan.positions.extent[i] < kFew) continue;
        const bool is_inner = i == plan.positions.count - 1;
        look(plan.positions.stride[i], plan.positions.extent[i],
             is_inner ? Nearest::kPositions : Nearest::kAcross);
    }
    return result;
}

// Whether tiles hold parts of some operand's cache lines, or copy runs along positions for all, or
// for the result (measured).
bool splits_lines(const ChannelSumPlan& plan, int64_t size) {
    if (!plan.stages) return false;
    int across = 0, along = 0;
    Nearest last = Nearest::kUnknown;
    for (int k = 0; k < plan.operands; ++k) {
        last = nearest_elements(plan, k, size);
        if (last == Nearest::kUnknown) return false;
        across += last == Nearest::kAcross;
        along += last == Nearest::kPositions;
    }
    const bool is_result = plan.operands > kInputs && last == Nearest::kPositions;
    return across > 0 || along == plan.operands || is_result;
}

// The axes of a call: channels, rows, and the loops of positions.
constexpr int kChannelAxis = 0, kRowAxis = 1, kFirstPosition = 2;
int axis_count(const ChannelSumPlan& plan) {
    return kFirstPosition + plan.positions.count;
}
int64_t axis_extent(const ChannelSumPlan& plan, int axis) {
    if (axis == kChannelAxis) return plan.channels;
    return axis == kRowAxis ? plan.rows : plan.positions.extent[axis - kFirstPosition];
}
const int64_t* axis_strides(const ChannelSumPlan& plan, int axis) {
    if (axis == kChannelAxis) return plan.channel_stride;
    return axis == kRowAxis ? plan.row_stride : plan.positions.stride[axis - kFirstPosition];
}

// The places of axes in dense panels, outermost first: as they lie in an operand that is not
// copied. If all are, channels come last where they are neighbours in the first operand, else rows
// of a channel lie one behind the other.
struct PanelOrder {
    int axis_at[Panels::kMaxAxes], place_of[Panels::kMaxAxes];
    PanelOrder(const ChannelSumPlan& plan, int64_t size, int in_place) {
        const int count = axis_count(plan);
        std::iota(axis_at, axis_at + count, 0);
        const auto stride = [&](int axis) { return magnitude(axis_strides(plan, axis)[in_place]); };
        if (in_place != Panels::kAllCopied) {
            std::stable_sort(axis_at, axis_at + count,
                             [&](int a, int b) { return stride(a) > stride(b); });
        } else if (plan.channel_stride[0] == size) {
            std::rotate(axis_at, axis_at + 1, axis_at + count);
        }
        for (int i = 0; i < count; ++i) place_of[axis_at[i]] = i;
    }
};

void list_axes(const ChannelSumPlan& plan, const PanelOrder& order, PanelAxis* axes) {
    for (int i = 0; i < axis_count(plan); ++i) {
        const int axis = order.axis_at[i];
        const int64_t* const strides = axis_strides(plan, axis);
        std::fill_n(axes[i].extent, plan.operands, axis_extent(plan, axis));
        std::copy(strides, strides + plan.operands, axes[i].stride);
        axes[i].is_whole = axis >= kFirstPosition;
        axes[i].unit = axis == kRowAxis ? plan.rows_per_block : 1;
    }
}

// Whether what lies nearest in an operand is walked in the order of memory: positions, or channels,
// or rows, behind whose run the next position's follows, or that of the other one of these.
bool is_walked_in_place(const ChannelSumPlan& plan, int operand, int64_t size) {
    const int64_t channel = plan.channel_stride[operand], row = plan.row_stride[operand];
    if (plan.positions.count == 0) return false;
    const int64_t position = plan.positions.stride[plan.positions.count - 1][operand];
    const auto goes_on = [&](int64_t count, int64_t other, int64_t others) {
        return position == count * size || (others > 1 && other == count * size);
    };
    // Rows in pieces pay in 16 bit only (measured).
    if (position == size) return size == 2 || has_runs_of_positions(plan, operand, size);
    if (channel == size && plan.channels > 1) return goes_on(plan.channels, row, plan.rows);
    return row == size && plan.rows > 1 && plan.rows_per_block == 1 &&
           goes_on(plan.rows, channel, plan.channels);
}

// Whether tiles are made of so many channels, of rows so long, and something written, that panels
// of which some operands are not copied had better be made (measured).
bool stages_many_channels(const ChannelSumPlan& plan) {
    constexpr int64_t kFewest = 64;
    return plan.stages && plan.operands > kInputs && plan.channels >= kFewest &&
           plan.row_length >= kSumLanes;
}

// Whether channels are walked in short runs though rows are what follows them in some operand: it
// pays to copy another one, so that both are walked together (measured).
bool walks_short_runs(const ChannelSumPlan& plan, int64_t size) {
    constexpr int64_t kShortBytes = 1024;
    const int64_t run = plan.channels * size;
    const int64_t* const end = plan.row_stride + plan.operands;
    return plan.is_direct() && plan.traversal == Traversal::kAlongChannels &&
           plan.operands > kInputs && plan.rows_as_channels == RowsAsChannels::kNot &&
           plan.rows_per_block == 1 && plan.rows > 1 && run < kShortBytes &&
           std::find(plan.row_stride, end, run) != end;
}

// The operand that as many others as possible lie alike, but not all, and that is walked where it
// lies; or Panels::kAllCopied.
int operand_in_place(const ChannelSumPlan& plan, int64_t size) {
    PanelAxis axes[Panels::kMaxAxes];
    list_axes(plan, PanelOrder(plan, size, Panels::kAllCopied), axes);
    int result = Panels::kAllCopied, most = 0;
    for (int k = 0; k < plan.operands; ++k) {
        int alike = 0;
        for (int other = 0; other < plan.operands; ++other)
            alike += lie_alike(axes, axis_count(plan), k, other);
        if (alike <= most || alike == plan.operands || !is_walked_in_place(plan, k, size)) continue;
        most = alike;
        result = k;
    }
    return result;
}

// Cuts the call into panels of which those operands are not copied that lie as this one does; all
// are, if it is Panels::kAllCopied.
bool cut(ChannelSumPlan& plan, DataType dtype, const void* output, int in_place,
         bool are_large = false) {
    const int count = axis_count(plan);
    const auto size = data_type_size(dtype);
    PanelAxis axes[Panels::kMaxAxes];
    list_axes(plan, PanelOrder(plan, size, in_place), axes);
    const DataType dtypes[] = {dtype, dtype, dtype};
    for (int k = 0; k < plan.operands; ++k)
        plan.panels.copied[k] =
            in_place == Panels::kAllCopied || !lie_alike(axes, count, in_place, k);
    plan.panels.in_place = static_cast<int8_t>(in_place);
    plan.panels.are_large = are_large;
    return cut_into_panels(plan.panels, axes, count, dtypes, plan.operands, plan.operands > kInputs,
                           output, plan.bytes);
}

// The same of which as many operands as possible are walked where they lie. No tiles are made of
// the middle panel, which stands for all.
bool cut_in_place(ChannelSumPlan& plan, DataType dtype, const void* output) {
    // Of a run: shorter ones are copied faster (measured).
    const int64_t fewest_bytes = plan.operands > kInputs ? 1024 : 2048;
    const int operand = operand_in_place(plan, data_type_size(dtype));
    if (operand == Panels::kAllCopied) return false;
    const auto has_runs = [&](bool are_large) {
        return cut(plan, dtype, output, operand, are_large) &&
               plan.panels.run(operand) >= fewest_bytes;
    };
    if (!has_runs(false) && (neighbours_compete(plan.panels) || !has_runs(true))) return false;
    int64_t first_block;
    return panel_plan(plan, plan.panels.count / 2, first_block).is_direct();
}

}  // namespace

void take_panels(ChannelSumPlan& plan, DataType dtype, const void* output) {
    const auto size = data_type_size(dtype);
    const bool splits = splits_lines(plan, size);
    if (axis_count(plan) > Panels::kMaxAxes ||
        !(splits || stages_many_channels(plan) || walks_short_runs(plan, size)))
        return;
    const auto is_worth_it = [&] {
        const bool* const copied = plan.panels.copied;
        return std::count(copied, copied + plan.operands, true) == 1 &&
               plan.panels.keeps_threads(plan);
    };
    const bool in_place = cut_in_place(plan, dtype, output) && (splits || is_worth_it());
    if (!in_place && !(splits && cut(plan, dtype, output, Panels::kAllCopied))) {
        plan.panels.count = 0;
        return;
    }
    plan.tasks = plan.panels.count;
    plan.most_threads = plan.panels.shares;
}

ChannelSumPlan panel_plan(const ChannelSumPlan& call, int64_t panel, int64_t& first_block) {
    const Panels& panels = call.panels;
    const int64_t size = panels.size[0];
    const PanelOrder order(call, size, panels.in_place);
    const int channels = order.place_of[kChannelAxis], rows = order.place_of[kRowAxis];
    const int64_t first_row = panels.begin(panel, rows);
    first_block = first_row / call.rows_per_block * call.chunks_per_row;
    ChannelSumPlan plan{};
    plan.operands = call.operands;
    plan.sums = call.sums;
    plan.first_channel = panels.begin(panel, channels);
    plan.call_channels = call.channels;
    plan.channels = panels.count_at(panel, channels, 0);
    plan.rows = panels.count_at(panel, rows, 0);
    plan.row_length = call.row_length;
    plan.chunk = call.chunk;
    plan.chunks_per_row = call.chunks_per_row;
    plan.rows_per_block = std::min(call.rows_per_block, plan.rows);
    plan.blocks = divide_up(plan.rows, plan.rows_per_block) * plan.chunks_per_row;
    const auto set = [&](int64_t* strides, int axis) {
        for (int k = 0; k < call.operands; ++k) strides[k] = panels.stride(order.place_of[axis], k);
    };
    set(plan.channel_stride, kChannelAxis);
    set(plan.row_stride, kRowAxis);
    plan.positions.operands = plan.operands;
    for (int i = 0; i < call.positions.count; ++i) {
        int64_t strides[Loops::kMaxOperands];
        set(strides, kFirstPosition + i);
        plan.positions.append(call.positions.extent[i], strides);
    }
    plan.positions.merge();
    walk_rows_as_channels(plan, size);
    plan_walk(plan, size, 1);
    return plan;
}

uint64_t ChannelSumPlan::partial_bytes() const {
    const int64_t bytes = saturated_bytes(partial_count(), sizeof(float));
    return static_cast<uint64_t>(std::min(bytes, INT64_MAX - kCacheLine) + kCacheLine - 1) /
           kCacheLine * kCacheLine;
}
uint64_t ChannelSumPlan::workspace_size() const {
    return panels.count == 0 ? partial_bytes() : partial_bytes() + panels.workspace_size();
}

}  // namespace ascend_grad
