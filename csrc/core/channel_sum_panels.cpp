// Channel sums that are cut into panels (core/panels.h).
#include <algorithm>

#include "core/cache_line.h"
#include "core/channel_sum_walk.h"
#include "core/integers.h"
#include "core/streaming.h"

namespace ascend_grad {
namespace {

// How the nearest elements of an operand follow each other: along positions that a tile has, along
// channels, or across what it has. Of few it is unknown.
enum class Nearest { kUnknown, kPositions, kChannels, kAcross };
Nearest nearest_elements(const ChannelSumPlan& plan, int operand, int64_t size) {
    constexpr int64_t kFew = 8;
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
        const bool is_inner = i == plan.positions.count - 1;
        look(plan.positions.stride[i], plan.positions.extent[i],
             is_inner ? Nearest::kPositions : Nearest::kAcross);
    }
    // Few columns, behind which the next row's follow.
    if (has_runs_of_positions(plan, operand, size) && nearest == size) return Nearest::kPositions;
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

// Which axes of panels are channels and batch items: channels come last where they are neighbours
// in the first operand, else rows of a channel lie one behind the other.
struct PanelOrder {
    bool channels_last;
    int channel, row;
    PanelOrder(const ChannelSumPlan& plan, int64_t size)
        : channels_last(plan.channel_stride[0] == size),
          channel(channels_last ? plan.positions.count + 1 : 0),
          row(channels_last ? 0 : 1) {}
};

}  // namespace

void take_panels(ChannelSumPlan& plan, DataType dtype) {
    const Loops& positions = plan.positions;
    const int count = positions.count + 2;
    const auto size = static_cast<int64_t>(data_type_size(dtype));
    if (!splits_lines(plan, size) || count > Panels::kMaxAxes) return;
    const PanelOrder order(plan, size);
    PanelAxis axes[Panels::kMaxAxes];
    const auto set = [&](int i, int64_t extent, const int64_t* strides, bool is_whole,
                         int64_t unit) {
        std::fill_n(axes[i].extent, plan.operands, extent);
        std::copy(strides, strides + plan.operands, axes[i].stride);
        axes[i].is_whole = is_whole;
        axes[i].unit = unit;
    };
    set(order.channel, plan.channels, plan.channel_stride, false, 1);
    set(order.row, plan.rows, plan.row_stride, false, plan.rows_per_block);
    for (int i = 0; i < positions.count; ++i)
        set(order.row + 1 + i, positions.extent[i], positions.stride[i], true, 1);
    const DataType dtypes[] = {dtype, dtype, dtype};
    Panels panels{};
    if (!cut_into_panels(panels, axes, count, dtypes, plan.operands, plan.operands > kInputs,
                         plan.bytes))
        return;
    plan.panels = panels;
    plan.tasks = panels.count;
    plan.most_threads = panels.shares;
}

ChannelSumPlan panel_plan(const ChannelSumPlan& call, int64_t panel, int64_t& first_block) {
    const Panels& panels = call.panels;
    const int64_t size = panels.size[0];
    const PanelOrder order(call, size);
    const int64_t first_row = panels.begin(panel, order.row);
    first_block = first_row / call.rows_per_block * call.chunks_per_row;
    ChannelSumPlan plan{};
    plan.operands = call.operands;
    plan.sums = call.sums;
    plan.first_channel = panels.begin(panel, order.channel);
    plan.call_channels = call.channels;
    const int64_t channels = panels.box[order.channel], rows = panels.box[order.row];
    plan.channels = std::min(channels, call.channels - plan.first_channel);
    plan.rows = std::min(rows, call.rows - first_row);
    plan.row_length = call.row_length;
    plan.chunk = call.chunk;
    plan.chunks_per_row = call.chunks_per_row;
    plan.rows_per_block = std::min(call.rows_per_block, plan.rows);
    plan.blocks = divide_up(plan.rows, plan.rows_per_block) * plan.chunks_per_row;
    const int64_t row = plan.row_length * size;
    const auto fill = [&](int64_t* strides, int64_t stride) {
        std::fill_n(strides, plan.operands, stride);
    };
    fill(plan.channel_stride, order.channels_last ? size : rows * row);
    fill(plan.row_stride, order.channels_last ? channels * row : row);
    int64_t position[Loops::kMaxOperands];
    fill(position, order.channels_last ? channels * size : size);
    plan.positions.operands = plan.operands;
    plan.positions.append(plan.row_length, position);
    plan.positions.merge();
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
