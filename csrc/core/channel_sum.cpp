#include "core/channel_sum.h"

#include <algorithm>

#include "core/cache_line.h"
#include "core/integers.h"
#include "core/processor.h"
#include "core/streaming.h"

namespace ascend_grad {
namespace {

// A thread's share over the mean that costs less than narrower tiles do, measured.
constexpr double kUneven = 1.34;
// Positions that are walked together, which is worth more than even shares, measured; for up to two
// threads fewer are enough.
constexpr int32_t kManyLanes = 8, kManyLanesForTwo = 4;
// Channels that threads had better share even so, where they were half of them idle.
constexpr int64_t kFewestShared = 128;
// Of all operands: what a task moves along positions, at most, and about as much as is enough.
// Rows of several batch items that are one block lie far apart, and the hardware has to find each
// item's run of channels: longer runs gain up to a quarter, measured.
constexpr int64_t kTaskBytes = int64_t{4} << 20;
constexpr int64_t kEnoughTaskBytes = int64_t{256} << 10;
// A thread's share over the mean there.
constexpr double kUnevenRows = 1.1;
// Of a task's channels of a position: that the hardware does not prefetch by itself where several
// positions are taken at a time, measured.
constexpr int64_t kShortRowBytes = 384;
// From which on they are walked from a cache line on.
constexpr int64_t kLongChannelRun = 1024;
// How far ahead loads are asked for along a position's channels, measured.
constexpr int64_t kNextLoadsBytes = 1024;
// The same from memory, where positions follow each other, on AMD's processors.
constexpr int64_t kFarLoadsBytes = 4096, kFarGroupsBytes = 8192;
constexpr int64_t kFarBytes = int64_t{32} << 20;  // that a call moves
// Along channels, blocks are all that threads can share. They have up to kSumBlock elements where
// that still makes kManyBlocks of a channel; else, and where they have several rows, up to
// kSharedSumBlock.
constexpr int64_t kManyBlocks = 32;
// Where something is written threads had better share blocks than channels (measured): they are cut
// smaller to make kWantedBlocks.
constexpr int64_t kWantedBlocks = 4;
constexpr int64_t kFewestSummed = 128;               // elements of such a block, at least
constexpr int64_t kFewestSummedTogether = 32 << 10;  // of such blocks of all channels, about
// Positions of many channels that are too few for vectors along them, measured.
constexpr int64_t kShortRow = 8;
constexpr int kInputs = 2;
// Bytes of a piece that is walked where it lies, measured: vectors with fewer are too empty. And
// the fewest channels whose pieces are walked together.
constexpr int64_t kShortestPiece = 18, kFewestTogether = 32;
// Channels, neighbours in the inputs alone, that are walked as they lie, measured.
constexpr int64_t kFewestTransposed = 4;

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

void cut_into_blocks(ChannelSumPlan& plan) {
    const bool are_many = plan.rows * divide_up(plan.row_length, kSumBlock) >= kManyBlocks;
    const int64_t shared = shared_block(plan);
    plan.chunk = even_block(plan.row_length, are_many ? kSumBlock : shared);
    plan.chunks_per_row = divide_up(plan.row_length, plan.chunk);
    plan.rows_per_block = std::clamp<int64_t>(shared / plan.row_length, 1, plan.rows);
    plan.blocks = divide_up(plan.rows, plan.rows_per_block) * plan.chunks_per_row;
}

// Elements from one position of a row to the next in tensor k; 0 where that is not one number.
int64_t position_step(const ChannelSumPlan& plan, int k, int64_t size) {
    if (plan.positions.count != 1 || plan.positions.stride[0][k] % size != 0) return 0;
    return plan.positions.stride[0][k] / size;
}

// Of neighbouring channels: whether positions lie one after the other in the first `operands`.
bool follow_each_other(const ChannelSumPlan& plan, int64_t size, int operands) {
    bool result = plan.positions.count == 1;
    for (int k = 0; k < operands; ++k)
        result = result && plan.positions.stride[0][k] == plan.channels * size;
    return result;
}

// Whether some operand's channels are neighbours.
bool has_neighbours(const ChannelSumPlan& plan, int64_t size) {
    return std::count(plan.channel_stride, plan.channel_stride + plan.operands, size) > 0;
}

// Whether some operand's channels are neighbours, or only a few positions apart.
bool has_near_channels(const ChannelSumPlan& plan, int64_t size) {
    const auto is_near = [&](int64_t stride) { return magnitude(stride) <= 2 * kSumLanes * size; };
    return std::any_of(plan.channel_stride, plan.channel_stride + plan.operands, is_near);
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

void choose_traversal(ChannelSumPlan& plan, int64_t size) {
    const int64_t step = position_step(plan, 0, size);
    const bool steps = (step == 1 || step == 2) && position_step(plan, 1, size) == step;
    const bool has_runs = plan.channel_stride[0] == size && plan.channel_stride[1] == size;
    const int output = plan.operands > kInputs ? kInputs : 0;
    const bool output_steps = output == 0 || position_step(plan, output, size) == 1;
    const bool output_has_runs = plan.channel_stride[output] == size;
    // With few channels a vector along them is mostly empty.
    const bool many_channels = plan.channels >= kSumLanes / 2;
    const bool are_short = many_channels && plan.row_length < kShortRow;
    const bool along_positions = steps && output_steps && !are_short;
    const bool along_channels =
        has_runs && output_has_runs &&
        (many_channels || plan.row_length == 1 || follow_each_other(plan, size, plan.operands));
    plan.position_step = static_cast<int32_t>(step);
    if (along_positions && !(along_channels && plan.row_length < plan.channels)) {
        plan.traversal = Traversal::kAlongPositions;
        return;
    }
    plan.traversal = Traversal::kAlongChannels;
    if (along_channels) return;
    plan.piece = piece_of(plan, size);
    if (plan.piece > 0) {
        const int outer = plan.positions.count - 2, last = plan.operands - 1;
        plan.traversal = Traversal::kAlongPositions;
        plan.position_step = 1;
        plan.by_channel =
            plan.channels < kFewestTogether ||
            magnitude(plan.channel_stride[last]) > magnitude(plan.positions.stride[outer][last]);
        return;
    }
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

// kAlongChannels: whether a position's channels are few bytes.
bool has_short_rows(const ChannelSumPlan& plan, int64_t size) {
    return !plan.transposes && plan.channel_tile * size <= kShortRowBytes;
}

// kAlongChannels, from a cache or one run of memory, on a processor that finds it by itself but for
// what is asked for into the second cache: how many positions are taken at a time, and how far
// ahead others are asked for. Measured on Zen 4: 0.6 to 1.1 of the time that the rules for other
// processors take.
void choose_group_of_run(ChannelSumPlan& plan, int64_t size, bool from_memory) {
    const bool writes = plan.operands > kInputs, is_narrow = size == 2;
    const int lanes = plan.lanes_together;
    int64_t positions_of_lane = kPositionGroup / kSumLanes;
    if (!from_memory) {
        if (writes) positions_of_lane = is_narrow ? 2 : has_short_rows(plan, size) ? 1 : 4;
    } else if (lanes >= kManyLanes) {
        positions_of_lane = !is_narrow ? 1 : writes && lanes == kSumLanes ? 4 : 2;
        plan.prefetch = kFarGroupsBytes;
    } else {
        if (is_narrow && writes && lanes > 1) positions_of_lane = 1;
        plan.prefetch = kFarLoadsBytes;
    }
    plan.position_group = positions_of_lane * kSumLanes;
}

// kAlongChannels: how many positions are taken at a time, and how far ahead later ones are
// prefetched.
void choose_group(ChannelSumPlan& plan, int64_t size, int64_t bytes) {
    const bool from_memory = bytes > processor().cached_bytes;
    plan.position_group = kPositionGroup;
    const bool writes = plan.operands > kInputs;
    if (plan.stages) {
        plan.position_group = kSumLanes;
        return;
    }
    const bool is_run = plan.channel_tiles == 1 && follow_each_other(plan, size, plan.operands);
    if (!processor().along_memory && !plan.transposes && (is_run || !from_memory))
        return choose_group_of_run(plan, size, from_memory);
    // Measured: where a position's channels are no single run of memory, or a long one, lanes one
    // by one take 0.5 to 0.95 of the time.
    plan.by_lane = from_memory && plan.lanes_together == 1 && !plan.transposes &&
                   plan.channels >= kChannelTile;
    if (plan.by_lane) {
        plan.prefetch = kNextLoadsBytes;
        return;
    }
    const bool transposes_many = plan.transposes && plan.lanes_together < kSumLanes;
    if (from_memory && plan.lanes_together >= kManyLanes && processor().far_along_memory &&
        (size == 4 || !writes || transposes_many)) {
        // Measured: in the order of memory; but of 16 bit and few channels, or where the third
        // cache holds much of it, a lane's sum is loaded and stored once for four positions.
        const bool is_grouped = size == 2 && plan.lanes_together == kSumLanes &&
                                (plan.channels < kSumLanes || bytes <= kFarBytes);
        plan.position_group = is_grouped ? kPositionGroup : kSumLanes;
        plan.prefetch = is_grouped ? kFarGroupsBytes : kFarLoadsBytes;
        return;
    }
    const bool are_short = has_short_rows(plan, size);
    // Measured: short rows of float or that are written do best in order; elsewhere it pays to load
    // and store a lane's sum once for several positions.
    if (writes && !plan.transposes) plan.position_group = 2 * kSumLanes;
    if (are_short && (writes || size == 4)) plan.position_group = kSumLanes;
    // Measured: from memory asking for loads up to doubles the rate, but of 16 bit taken in order.
    // From a cache it gains nothing, but where several short rows are taken at a time.
    const bool in_order = plan.position_group == kSumLanes;
    if (from_memory ? in_order && size == 2 : in_order || !are_short) return;
    // After a position's channels follow those of the next one, which the next lane takes; where
    // all lanes are walked together, the next group.
    plan.prefetch = plan.lanes_together == kSumLanes ? plan.position_group * plan.channels * size
                                                     : kNextLoadsBytes;
}

// kAlongChannels: whether there are so few positions that thirty-two channels of all of them are
// taken at a time, and enough channels that those left over do not count (measured, in a cache).
bool has_few_positions(const ChannelSumPlan& plan, bool from_memory) {
    constexpr int64_t kFewWritten = 48, kManyChannels = 128;
    const int64_t most = plan.operands > kInputs ? kFewWritten : kFewPositions;
    return plan.is_direct() && !from_memory && plan.rows == 1 && plan.row_length <= most &&
           (plan.channels % kWholeChannels == 0 || plan.channels >= kManyChannels);
}

// kAlongChannels: how many positions that follow each other have at most `most` elements: all
// sixteen, or a number that makes whole vectors.
int32_t lanes_together(const ChannelSumPlan& plan, int64_t size, int64_t most) {
    if (plan.channel_tile < plan.channels || plan.stages ||
        !follow_each_other(plan, size, plan.transposes ? kInputs : plan.operands))
        return 1;
    int32_t lanes = kSumLanes;
    while (lanes > 1 && lanes * plan.channels > most) lanes /= 2;
    return lanes == kSumLanes || lanes * plan.channels % kWholeChannels == 0 ? lanes : 1;
}
// kAlongChannels: whether runs of so many elements of the last operand all begin equally far from a
// cache line.
bool begin_alike(const ChannelSumPlan& plan, int64_t elements, int64_t size) {
    return are_whole_lines(
        {elements * size, plan.rows > 1 ? plan.row_stride[plan.operands - 1] : 0});
}
// Whether more than kChannelTile elements of them had better be walked together: in a cache, and
// where vectors would be partly empty, from memory up to so many bytes (measured on Zen 4) or, if
// then whole lines are streamed, any (Emerald Rapids).
bool long_runs_pay(const ChannelSumPlan& plan, int64_t size, int64_t bytes, int threads) {
    const bool from_memory = bytes > processor().cached_bytes;
    constexpr int64_t kFarRunBytes = 8192, kFewest = 4 * kSumLanes;
    const int64_t positions = plan.rows_per_block * std::min(plan.chunk, plan.row_length);
    if (plan.transposes || has_few_positions(plan, from_memory) || positions < kFewest)
        return false;
    const bool are_odd = plan.lanes_together == 1 && plan.channels % kWholeChannels != 0;
    const bool streams = plan.operands > kInputs &&
                         streaming_pays(bytes, threads == 1, Gain::kAlways) &&
                         begin_alike(plan, kSumLanes * plan.channels, size);
    if (from_memory)
        return are_odd && (streams || plan.channels <= kFarRunBytes / (kSumLanes * size));
    return are_odd || !processor().along_memory;
}

// kAlongChannels: whether runs of channels are long, follow each other and all begin equally far
// from a cache line; each position then has a line's worth of channels, which the head of sums
// relies on. With gaps between them it gains nothing, measured.
bool can_align(const ChannelSumPlan& plan, int64_t size) {
    const int64_t channels = std::min(plan.channel_tile, plan.channels);
    const int64_t run = plan.lanes_together * channels;
    return plan.is_direct() && follow_each_other(plan, size, plan.operands) &&
           (plan.channels % kWholeChannels == 0 || plan.lanes_together == kSumLanes) &&
           run * size >= kLongChannelRun && begin_alike(plan, run, size);
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
// kAlongChannels: as many as fit, as every further tile makes runs of memory shorter. `threads` had
// better share a position.
int64_t even_tile(const ChannelSumPlan& plan, int64_t outer, int threads) {
    const int64_t most = std::max<int64_t>(1, plan.channel_tile / kWholeChannels);
    return kWholeChannels *
           even_share(divide_up(plan.channels, kWholeChannels), most, 1, [&](int64_t tiles) {
               return shares_are_even(plan, outer, tiles, threads, kUneven);
           });
}

// kAlongPositions: whether rows are written that lie one behind the other in all operands: walked
// as one run they gain where they leave the first cache, but for long ones and for runs of which
// many lines are parts (measured).
bool can_join_rows(const ChannelSumPlan& plan, int64_t size, int64_t bytes) {
    constexpr int64_t kFewestBytes = int64_t{128} << 10;
    const int64_t row = plan.row_length * size;
    const int64_t run = std::min(plan.channels, plan.channel_tile) * row;
    bool result = plan.traversal == Traversal::kAlongPositions && plan.operands > kInputs &&
                  plan.has_whole_rows() && plan.position_step == 1 && plan.chunks_per_row == 1 &&
                  plan.channel_tile > 1 && plan.row_length >= kSumLanes && row < kLongRun &&
                  run >= kLongRun && bytes >= kFewestBytes;
    for (int k = 0; k < plan.operands; ++k) result = result && plan.channel_stride[k] == row;
    return result;
}

// How many threads had better share the channels of a position.
int threads_of_position(const ChannelSumPlan& plan, int64_t size, int64_t bytes) {
    if (plan.operands == kInputs || plan.row_length == 1) return kAnyThreads;
    const auto is_near = [](int64_t stride) { return magnitude(stride) < kCacheLine; };
    if (!is_near(plan.channel_stride[kInputs])) return kAnyThreads;
    for (int i = 0; i < plan.positions.count; ++i) {
        if (plan.positions.extent[i] > 1 && is_near(plan.positions.stride[i][kInputs]))
            return kAnyThreads;
    }
    return threads_for_written_runs(saturated_bytes(plan.channels, plan.operands * size), bytes);
}
// How many had better share all of `outer` blocks. Those of batch items may lie side by side.
int64_t threads_of_blocks(const ChannelSumPlan& plan, int64_t outer, int64_t size, int64_t bytes,
                          int of_position) {
    const bool are_side_by_side = plan.operands > kInputs && plan.rows > plan.rows_per_block &&
                                  magnitude(plan.row_stride[kInputs]) < kCacheLine;
    return are_side_by_side
               ? threads_for_written_runs(saturated_bytes(plan.rows, plan.operands * size), bytes)
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

// kAlongChannels: channels of a task, and how many positions of them are walked together.
void tile_channels(ChannelSumPlan& plan, int64_t size, int64_t outer, int threads, int of_position,
                   int64_t bytes) {
    const int64_t lanes = std::min<int64_t>(kSumLanes, plan.row_length);
    plan.channel_tile = plan.transposes ? kTransposed : kChannelTile;
    if (plan.stages) plan.channel_tile = std::min(kChannelTile, kStagedElements / lanes);
    plan.lanes_together = lanes_together(plan, size, kChannelTile);
    const int32_t longest = long_runs_pay(plan, size, bytes, threads)
                                ? lanes_together(plan, size, kRunElements)
                                : plan.lanes_together;
    const bool are_few = plan.channels < kFewestShared;
    const int32_t together = are_few ? longest : plan.lanes_together;
    if (together < (threads > 2 ? kManyLanes : kManyLanesForTwo) ||
        (!are_few && 2 * outer <= threads))
        plan.channel_tile = even_tile(plan, outer, std::min(threads, of_position));
    plan.lanes_together = plan.channel_tile < plan.channels ? 1 : longest;
}

void cut_into_tasks(ChannelSumPlan& plan, int64_t size, int64_t bytes, int most_threads) {
    const bool from_memory = bytes > processor().cached_bytes;
    const int threads = std::min(threads_for(bytes), most_threads);
    const int of_position = threads_of_position(plan, size, bytes);
    // Only along positions do the chunks of a row share anything.
    const int64_t most_chunks =
        kTaskElements / (plan.chunk > kSharedSumBlock ? kSumBlock : kSharedSumBlock);
    plan.chunks_per_task = plan.traversal == Traversal::kAlongPositions && plan.has_whole_rows()
                               ? even_part(plan.chunks_per_row, most_chunks)
                               : 1;
    const int64_t outer = plan.chunks_per_row == 1
                              ? plan.blocks
                              : plan.rows * divide_up(plan.chunks_per_row, plan.chunks_per_task);
    switch (plan.traversal) {
        case Traversal::kAlongPositions:
            plan.channel_tile = plan.transposes ? kFewChannels
                                : plan.stages   ? staged_channels(plan, size, from_memory)
                                                : row_channels(plan, outer, size, threads);
            break;
        case Traversal::kAlongChannels:
            tile_channels(plan, size, outer, threads, of_position, bytes);
            break;
    }
    plan.channel_tile = std::min(plan.channel_tile, plan.channels);
    plan.channel_tiles = divide_up(plan.channels, plan.channel_tile);
    if (plan.traversal == Traversal::kAlongChannels) {
        plan.has_few = has_few_positions(plan, from_memory);
        // Those left over are then walked by themselves.
        if (plan.has_few && plan.channels % kWholeChannels != 0) plan.lanes_together = 1;
        choose_group(plan, size, bytes);
        plan.aligns = can_align(plan, size);
    }
    plan.joins_rows = can_join_rows(plan, size, bytes);
    plan.tasks = outer * plan.channel_tiles;
    plan.most_threads = threads_of_blocks(plan, outer, size, bytes, of_position);
    plan.asks_for_tiles = plan.stages && from_memory && plan.channel_tiles > 1;
}

}  // namespace

bool ChannelSumPlan::writes_runs(int64_t size) const {
    const int outer = positions.count - 2, output = operands - 1;
    const int64_t channel = channel_stride[output], next = positions.stride[outer][output];
    const int64_t run = piece * size * (by_channel ? positions.extent[outer] : channels);
    const bool is_run = (by_channel ? next : channel) == piece * size;
    return is_run && (run >= kLongRun || (by_channel ? channel : next) == run);
}

void plan_walk(ChannelSumPlan& plan, int64_t size, int most_threads) {
    const int64_t bytes =
        saturated_bytes(plan.rows * plan.channels * plan.row_length, plan.operands * size);
    choose_traversal(plan, size);
    plan.asks = processor().along_memory &&
                (plan.is_direct() || (bytes > processor().cached_bytes &&
                                      (plan.transposes || has_neighbours(plan, size))));
    plan.asks_into_second = processor().into_second;
    plan.aligned_bytes = std::min(processor().aligned_bytes, kLongRun);
    cut_into_tasks(plan, size, bytes, most_threads);
}

void plan_channel_sum(ChannelSumPlan& plan, const TensorView* const* views, int operands,
                      int sums) {
    plan.operands = operands;
    plan.sums = sums;
    view_as_channels_and_rows(plan, views);
    cut_into_blocks(plan);
    plan.call_channels = plan.channels;
    plan_walk(plan, static_cast<int64_t>(data_type_size(views[0]->dtype)), kAnyThreads);
    take_panels(plan, views[0]->dtype);
}

}  // namespace ascend_grad
