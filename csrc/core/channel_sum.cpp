#include "core/channel_sum.h"

#include <algorithm>

#include "core/channel_sum_walk.h"
#include "core/integers.h"
#include "core/processor.h"
#include "core/streaming.h"

namespace ascend_grad {
namespace {

// Of all operands: what a task moves along positions, at most, and about as much as is enough.
// Rows of several batch items that are one block lie far apart, and the hardware has to find each
// item's run of channels: longer runs gain up to a quarter, measured.
constexpr int64_t kTaskBytes = int64_t{4} << 20;
constexpr int64_t kEnoughTaskBytes = int64_t{256} << 10;
// A thread's share over the mean there.
constexpr double kUnevenRows = 1.1;
// Along channels, blocks are all that threads can share. They have up to kSumBlock elements where
// that still makes kManyBlocks of a channel; else, and where they have several rows, up to
// kSharedSumBlock.
constexpr int64_t kManyBlocks = 32;
// Where something is written threads had better share blocks than channels (measured): they are cut
// smaller to make kWantedBlocks.
constexpr int64_t kWantedBlocks = 4;
constexpr int64_t kFewestSummed = 128;               // elements of such a block, about
constexpr int64_t kFewestSummedTogether = 32 << 10;  // of such blocks of all channels, about

void view_as_channels_and_rows(ChannelSumPlan& plan, const TensorView* const* views) {
    const TensorView& first = *views[0];
    const bool has_channels = first.rank >= 2;
    plan.channels = has_channels ? first.shape[1] : 1;
    const int64_t batch = has_channels ? first.shape[0] : 1;
    const int64_t spatial = first.numel / (batch * plan.channels);
    const bool rows_are_batch_items = spatial >= kSumLanes;
    plan.rows = rows_are_batch_items ? batch : 1;
    plan.row_length = rows_are_batch_items ? spatial : batch * spatial;

    plan.positions.operands = plan.operands;
    for (int axis = 0; axis < first.rank; ++axis) {
        int64_t strides[Loops::kMaxOperands];
        for (int k = 0; k < plan.operands; ++k) strides[k] = views[k]->strides[axis];
        if (has_channels && axis == 1) {
            std::copy(strides, strides + plan.operands, plan.channel_stride);
        } else if (has_channels && axis == 0 && rows_are_batch_items) {
            std::copy(strides, strides + plan.operands, plan.row_stride);
        } else {
            plan.positions.append(first.shape[axis], strides);
        }
    }
    plan.positions.merge();
}

// Elements of a block that is not of kSumBlock, at most.
int64_t shared_block(const ChannelSumPlan& plan) {
    if (plan.operands == kInputs) return kSharedSumBlock;
    const int64_t positions = plan.rows * plan.row_length;
    const int64_t most = std::max<int64_t>(1, positions * plan.channels / kFewestSummedTogether);
    const int64_t wanted = divide_up(positions, std::min(most, kWantedBlocks));
    return std::clamp(wanted, kFewestSummed, kSharedSumBlock);
}

// Rows of a block, up to `most`: so many that blocks are equal, which threads share more evenly,
// unless they would have no more than half of that; else the last one has fewer.
int64_t block_rows(int64_t rows, int64_t most) {
    most = std::clamp<int64_t>(most, 1, rows);
    for (int64_t n = most; n > most / 2; --n)
        if (rows % n == 0) return n;
    return even_part(rows, most);
}

void cut_into_blocks(ChannelSumPlan& plan) {
    const bool are_many = plan.rows * divide_up(plan.row_length, kSumBlock) >= kManyBlocks;
    const int64_t shared = shared_block(plan);
    plan.chunk = even_block(plan.row_length, are_many ? kSumBlock : shared);
    plan.chunks_per_row = divide_up(plan.row_length, plan.chunk);
    plan.rows_per_block = block_rows(plan.rows, shared / plan.row_length);
    plan.blocks = divide_up(plan.rows, plan.rows_per_block) * plan.chunks_per_row;
}

// kAlongPositions: as many as threads can share evenly.
int64_t row_channels(const ChannelSumPlan& plan, int64_t outer, int64_t size, int threads) {
    const int64_t elements = plan.rows_per_block * plan.chunks_per_task * plan.chunk;
    const auto channels_of = [&](int64_t task_bytes) {
        return std::clamp<int64_t>(task_bytes / (plan.operands * elements * size), 1, kRowChannels);
    };
    return even_share(
        plan.channels, channels_of(kTaskBytes), channels_of(kEnoughTaskBytes),
        [&](int64_t tiles) { return shares_are_even(plan, outer, tiles, threads, kUnevenRows); });
}

// kAlongPositions: whether rows are written that lie one behind the other in all operands: walked
// as one run they gain where they leave the first cache, but for long ones, or long chunks of them,
// and for runs of which many lines are parts (measured).
bool can_join_rows(const ChannelSumPlan& plan, int64_t size) {
    constexpr int64_t kFewestBytes = int64_t{128} << 10;
    const int64_t row = plan.row_length * size;
    const int64_t run = std::min(plan.channels, plan.channel_tile) * row;
    const int64_t last = plan.row_length - (plan.chunks_per_row - 1) * plan.chunk;
    const bool are_long = plan.chunk * size >= kLongRun;
    bool result = plan.traversal == Traversal::kAlongPositions && plan.operands > kInputs &&
                  plan.has_whole_rows() && plan.position_step == 1 &&
                  plan.chunks_per_row <= plan.chunks_per_task && plan.channel_tile > 1 &&
                  last >= kSumLanes && !are_long && run >= kLongRun && plan.bytes >= kFewestBytes;
    for (int k = 0; k < plan.operands; ++k) result = result && plan.channel_stride[k] == row;
    return result;
}

// How many threads had better share the channels of a position.
int threads_of_position(const ChannelSumPlan& plan, int64_t size) {
    if (plan.operands == kInputs || plan.row_length == 1) return kAnyThreads;
    const auto is_near = [](int64_t stride) { return magnitude(stride) < kCacheLine; };
    if (!is_near(plan.channel_stride[kInputs])) return kAnyThreads;
    for (int i = 0; i < plan.positions.count; ++i) {
        if (plan.positions.extent[i] > 1 && is_near(plan.positions.stride[i][kInputs]))
            return kAnyThreads;
    }
    return threads_for_written_runs(saturated_bytes(plan.channels, plan.operands * size),
                                    plan.bytes);
}

// How many had better share all of `outer` blocks. Those of batch items may lie side by side.
int64_t threads_of_blocks(const ChannelSumPlan& plan, int64_t outer, int64_t size,
                          int of_position) {
    const bool are_side_by_side = plan.operands > kInputs && plan.rows > plan.rows_per_block &&
                                  magnitude(plan.row_stride[kInputs]) < kCacheLine;
    return are_side_by_side ? threads_for_written_runs(
                                  saturated_bytes(plan.rows, plan.operands * size), plan.bytes)
                            : std::min<int64_t>(outer, kAnyThreads) * of_position;
}

// kAlongPositions, staged: few where they are far apart in memory and rows are long. Where they are
// neighbours in some operand, fewer than fit make runs along positions longer; that pays where
// these are long, in 16 bit and, from memory, for float whose output has no such neighbours
// (measured).
int64_t staged_channels(const ChannelSumPlan& plan, int64_t size, bool from_memory) {
    if (!has_near_channels(plan, size))
        return std::clamp<int64_t>(kSharedSumBlock / plan.row_length, 1, kStagedLines);
    const int inner = plan.positions.count - 1;
    const bool are_long =
        inner >= 0 && plan.positions.extent[inner] > kStagedElements / kStagedLines;
    const bool is_output = plan.operands > kInputs && plan.channel_stride[kInputs] == size;
    const bool pays = size == 2 || (from_memory && !is_output);
    return has_neighbours(plan, size) && are_long && pays ? kStagedLines / 2 : kStagedLines;
}

void cut_into_tasks(ChannelSumPlan& plan, int64_t size, int most_threads) {
    const bool from_memory = comes_from_memory(plan.bytes);
    const int threads = std::min(threads_for(plan.bytes), most_threads);
    const int of_position = threads_of_position(plan, size);
    // Only along positions do the chunks of a row share anything.
    const int64_t most_chunks =
        kTaskElements / (plan.chunk > kSharedSumBlock ? kSumBlock : kSharedSumBlock);
    plan.chunks_per_task = plan.traversal == Traversal::kAlongPositions && plan.has_whole_rows()
                               ? even_part(plan.chunks_per_row, most_chunks)
                               : 1;
    const int64_t outer = plan.chunks_per_row == 1
                              ? divide_up(plan.rows, plan.rows_per_block)
                              : plan.rows * divide_up(plan.chunks_per_row, plan.chunks_per_task);
    switch (plan.traversal) {
        case Traversal::kAlongPositions:
            plan.channel_tile = plan.transposes ? kFewChannels
                                : plan.stages   ? staged_channels(plan, size, from_memory)
                                                : row_channels(plan, outer, size, threads);
            break;
        case Traversal::kAlongChannels:
            tile_channels(plan, size, outer, threads, of_position);
            break;
    }
    plan.channel_tile = std::min(plan.channel_tile, plan.channels);
    plan.channel_tiles = divide_up(plan.channels, plan.channel_tile);
    if (plan.traversal == Traversal::kAlongChannels) choose_runs(plan, size);
    plan.joins_rows = can_join_rows(plan, size);
    plan.tasks = outer * plan.channel_tiles;
    plan.most_threads = threads_of_blocks(plan, outer, size, of_position);
    plan.asks_for_tiles = plan.stages && from_memory && plan.channel_tiles > 1;
}

}  // namespace

void plan_walk(ChannelSumPlan& plan, int64_t size, int most_threads) {
    plan.bytes = saturated_bytes(plan.rows * plan.channels * plan.row_length, plan.operands * size);
    choose_traversal(plan, size);
    plan.asks = processor().along_memory &&
                (plan.is_direct() || (comes_from_memory(plan.bytes) &&
                                      (plan.transposes || has_neighbours(plan, size))));
    plan.asks_into_second = processor().into_second;
    plan.aligned_bytes = std::min(processor().aligned_bytes, kLongRun);
    cut_into_tasks(plan, size, most_threads);
}

void plan_channel_sum(ChannelSumPlan& plan, const TensorView* const* views, int operands,
                      int sums) {
    plan.operands = operands;
    plan.sums = sums;
    view_as_channels_and_rows(plan, views);
    cut_into_blocks(plan);
    plan.call_channels = plan.channels;
    const auto size = data_type_size(views[0]->dtype);
    walk_rows_as_channels(plan, size);
    plan_walk(plan, size, kAnyThreads);
    take_panels(plan, views[0]->dtype, operands > kInputs ? views[kInputs]->data : nullptr);
}

}  // namespace ascend_grad
