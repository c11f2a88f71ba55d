// Which way a ChannelSumPlan walks memory.
#include <algorithm>
#include <utility>

#include "core/cache_line.h"
#include "core/channel_sum_walk.h"
#include "core/integers.h"

namespace ascend_grad {
namespace {

// Positions of many channels that are too few for vectors along them, measured.
constexpr int64_t kShortRow = 8;
// Bytes of a piece that is walked where it lies, measured: vectors with fewer are too empty. And
// the fewest channels whose pieces are walked together.
constexpr int64_t kShortestPiece = 18, kFewestTogether = 32;
// Channels, neighbours in the inputs alone, that are walked as they lie, measured.
constexpr int64_t kFewestTransposed = 4;

// Channels, all that follow each other, that had better be parted, measured: so few are copied fast
// (isa/copy_block.h).
constexpr int64_t kMostParted = 3;

// Elements from one position of a row to the next in tensor k; 0 where that is not one number.
int64_t position_step(const ChannelSumPlan& plan, int k, int64_t size) {
    if (plan.positions.count != 1 || plan.positions.stride[0][k] % size != 0) return 0;
    return plan.positions.stride[0][k] / size;
}

// kAlongPositions: how many positions lie one after the other in all operands; 0 where they are
// few, or batch items lie nearest to them, whose lines panels keep together.
int64_t piece_of(const ChannelSumPlan& plan, int64_t size) {
    const int inner = plan.positions.count - 1;
    if (inner < 1 || plan.positions.extent[inner] * size < kShortestPiece) return 0;
    for (int k = 0; k < plan.operands; ++k) {
        const int64_t nearest = std::min(magnitude(plan.channel_stride[k]),
                                         magnitude(plan.positions.stride[inner - 1][k]));
        const int64_t row_stride = plan.rows > 1 ? magnitude(plan.row_stride[k]) : 0;
        const bool rows_are_near = row_stride > 0 && row_stride < nearest;
        if (plan.positions.stride[inner][k] != size || rows_are_near) return 0;
    }
    return plan.positions.extent[inner];
}

// Sets how rows are walked as such pieces, if they can be.
bool walks_pieces(ChannelSumPlan& plan, int64_t size) {
    plan.piece = piece_of(plan, size);
    if (plan.piece == 0) return false;
    const int outer = plan.positions.count - 2, last = plan.operands - 1;
    plan.traversal = Traversal::kAlongPositions;
    plan.position_step = 1;
    plan.by_channel =
        plan.channels < kFewestTogether ||
        magnitude(plan.channel_stride[last]) > magnitude(plan.positions.stride[outer][last]);
    return true;
}

// Which way staged tiles lie: as memory does, but for very short runs along positions.
Traversal staged_traversal(const ChannelSumPlan& plan, bool many_channels) {
    const int inner = plan.positions.count - 1;
    bool channels_are_nearer = true;
    for (int k = 0; inner >= 0 && k < kInputs; ++k) {
        channels_are_nearer = channels_are_nearer && magnitude(plan.channel_stride[k]) <
                                                         magnitude(plan.positions.stride[inner][k]);
    }
    return many_channels && (channels_are_nearer || plan.row_length < kShortRow)
               ? Traversal::kAlongChannels
               : Traversal::kAlongPositions;
}

void stage_others(ChannelSumPlan& plan, int64_t size) {
    for (int k = 0; k < plan.operands; ++k) {
        plan.staged[k] = plan.traversal == Traversal::kAlongChannels
                             ? plan.channel_stride[k] != size
                             : position_step(plan, k, size) != 1;
        plan.stages = plan.stages || plan.staged[k];
    }
}

}  // namespace

bool follow_each_other(const ChannelSumPlan& plan, int64_t size, int operands) {
    bool result = plan.positions.count == 1;
    for (int k = 0; k < operands; ++k)
        result = result && plan.positions.stride[0][k] == plan.channels * size;
    return result;
}

bool has_runs_of_positions(const ChannelSumPlan& plan, int k, int64_t size) {
    int64_t run = size;
    bool result = plan.positions.count > 0;
    for (int i = plan.positions.count - 1; i >= 0; --i) {
        result = result && plan.positions.stride[i][k] == run;
        run *= plan.positions.extent[i];
    }
    return result;
}

bool has_neighbours(const ChannelSumPlan& plan, int64_t size) {
    return std::count(plan.channel_stride, plan.channel_stride + plan.operands, size) > 0;
}

bool has_near_channels(const ChannelSumPlan& plan, int64_t size) {
    const auto is_near = [&](int64_t stride) { return magnitude(stride) <= 2 * kSumLanes * size; };
    return std::any_of(plan.channel_stride, plan.channel_stride + plan.operands, is_near);
}

void walk_rows_as_channels(ChannelSumPlan& plan, int64_t size) {
    // Of the result, where it lies across: shorter runs would leave what is transposed too empty.
    constexpr int64_t kFewestAcross = kSumLanes / 2;
    if (plan.rows_per_block > 1 || plan.rows == 1) return;
    const bool is_across = plan.operands > kInputs && has_runs_of_positions(plan, kInputs, size);
    const int alike = is_across ? kInputs : plan.operands;
    const auto are = [&](const int64_t* strides, int64_t stride) {
        return std::count(strides, strides + alike, stride) == alike;
    };
    const bool rows_are_inner = are(plan.row_stride, size);
    if (!rows_are_inner && !are(plan.channel_stride, size)) return;
    const int64_t inner = rows_are_inner ? plan.rows : plan.channels;
    const int64_t outer = rows_are_inner ? plan.channels : plan.rows;
    const int64_t* const outer_stride = rows_are_inner ? plan.channel_stride : plan.row_stride;
    const bool are_dense = are(outer_stride, inner * size);
    const bool follow = plan.positions.count == 1 && are(plan.positions.stride[0], inner * size);
    if (!are_dense && !(rows_are_inner && follow)) return;
    if ((are_dense ? inner * outer : inner) < kSumLanes) return;
    if (is_across && rows_are_inner && inner < kFewestAcross) return;
    plan.rows_as_channels = rows_are_inner ? RowsAsChannels::kInner : RowsAsChannels::kOuter;
    plan.inner = inner;
    plan.transposes = is_across;
    if (rows_are_inner) {
        std::swap(plan.channels, plan.rows);
        std::swap(plan.channel_stride, plan.row_stride);
    }
    if (!are_dense) return;
    plan.outer_stride = plan.row_stride[kInputs];
    plan.channels = inner * outer;
    plan.rows = 1;
    std::fill_n(plan.row_stride, plan.operands, 0);
}

void choose_traversal(ChannelSumPlan& plan, int64_t size) {
    if (plan.rows_as_channels != RowsAsChannels::kNot) {
        plan.traversal = Traversal::kAlongChannels;
        return;
    }
    const int64_t step = position_step(plan, 0, size);
    const bool steps = (step == 1 || step == 2) && position_step(plan, 1, size) == step;
    const bool has_runs = plan.channel_stride[0] == size && plan.channel_stride[1] == size;
    const int output = plan.operands > kInputs ? kInputs : 0;
    const bool output_steps = output == 0 || has_runs_of_positions(plan, output, size);
    const bool output_has_runs = plan.channel_stride[output] == size;
    // With few channels a vector along them is mostly empty.
    const bool many_channels = plan.channels >= kSumLanes / 2;
    const bool are_short = many_channels && plan.row_length < kShortRow;
    const bool along_positions = steps && output_steps && !are_short;
    const bool are_parted = plan.channels > 1 && plan.channels <= kMostParted &&
                            plan.row_length >= kSumLanes &&
                            follow_each_other(plan, size, plan.operands);
    const bool along_channels =
        has_runs && output_has_runs && !are_parted &&
        (many_channels || plan.row_length == 1 || follow_each_other(plan, size, plan.operands));
    plan.position_step = static_cast<int32_t>(step);
    if (along_positions && !(along_channels && plan.row_length < plan.channels)) {
        plan.traversal = Traversal::kAlongPositions;
        return;
    }
    plan.traversal = Traversal::kAlongChannels;
    if (along_channels) return;
    if (walks_pieces(plan, size)) return;
    const bool crosses = steps && output_has_runs && !are_short;
    const bool has_dense_runs =
        has_runs && (many_channels || (plan.channels >= kFewestTransposed &&
                                       follow_each_other(plan, size, kInputs)));
    plan.transposes = (many_channels && crosses) || (has_dense_runs && output_steps);
    if (plan.transposes) {
        if (crosses) plan.traversal = Traversal::kAlongPositions;
        return;
    }
    plan.traversal = staged_traversal(plan, many_channels);
    plan.position_step = 1;
    stage_others(plan, size);
}

bool ChannelSumPlan::writes_runs(int64_t size) const {
    const int outer = positions.count - 2, output = operands - 1;
    const int64_t channel = channel_stride[output], next = positions.stride[outer][output];
    const int64_t run = piece * size * (by_channel ? positions.extent[outer] : channels);
    const bool is_run = (by_channel ? next : channel) == piece * size;
    return is_run && (run >= kLongRun || (by_channel ? channel : next) == run);
}

}  // namespace ascend_grad
