// In what runs a ChannelSumPlan walks neighbouring channels.
#include <algorithm>

#include "core/cache_line.h"
#include "core/channel_sum_walk.h"
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
// Of a task's channels of a position: that the hardware does not prefetch by itself where several
// positions are taken at a time, measured.
constexpr int64_t kShortRowBytes = 384;
// From which on they are walked from a cache line on.
constexpr int64_t kLongChannelRun = 1024;
// How far ahead loads are asked for along a position's channels, measured.
constexpr int64_t kNextLoadsBytes = 1024;
// At least so far from memory, where positions follow each other and are written: 0.6 to 0.8 of the
// time in 16 bit, 0.8 to 1 in float (Emerald Rapids; assumed of the others but AMD's).
constexpr int64_t kRunLoadsBytes = 2048;
// How far ahead from memory on AMD's processors, where positions follow each other.
constexpr int64_t kFarLoadsBytes = 4096, kFarGroupsBytes = 8192;
constexpr int64_t kFarBytes = int64_t{32} << 20;  // that a call moves

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
        // Four take up to 1.6 times as long (4096x1024 in 16 bit), float 0.9 to 1.35 times.
        if (writes) positions_of_lane = 1;
        plan.prefetch = kFarLoadsBytes;
    }
    plan.position_group = positions_of_lane * kSumLanes;
}

// kAlongChannels: how many positions are taken at a time, and how far ahead later ones are
// prefetched.
void choose_group(ChannelSumPlan& plan, int64_t size, bool from_memory) {
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
                                (plan.channels < kSumLanes || plan.bytes <= kFarBytes);
        plan.position_group = is_grouped ? kPositionGroup : kSumLanes;
        plan.prefetch = is_grouped ? kFarGroupsBytes : kFarLoadsBytes;
        return;
    }
    // Measured: of few channels, whose runs are short, of as many as possible; but of 16 bit that
    // is not written, which does best as it is.
    if (plan.lanes_together == kSumLanes && !plan.transposes && plan.channels <= kSumLanes / 2 &&
        (writes || size == 4)) {
        plan.position_group = kFewChannelsGroup;
        return;
    }
    const bool are_short = has_short_rows(plan, size);
    // Measured: short rows of float or that are written do best in order; elsewhere it pays to load
    // and store a lane's sum once for several positions.
    if (writes && !plan.transposes) plan.position_group = 2 * kSumLanes;
    if (are_short && (writes || size == 4)) plan.position_group = kSumLanes;
    // Measured: from memory asking for loads up to doubles the rate, but on Zen 5 of 16 bit taken
    // in order. From a cache it gains nothing, but where several short rows are taken at a time.
    const bool in_order = plan.position_group == kSumLanes;
    const bool is_zen5 = processor().far_along_memory;
    if (from_memory ? in_order && size == 2 && is_zen5 : in_order || !are_short) return;
    // After a position's channels follow those of the next one, which the next lane takes; where
    // all lanes are walked together, the next group.
    plan.prefetch = plan.lanes_together == kSumLanes ? plan.position_group * plan.channels * size
                                                     : kNextLoadsBytes;
    if (from_memory && is_run && writes && !is_zen5)
        plan.prefetch = std::max(plan.prefetch, kRunLoadsBytes);
}

// Whether some position's channels, not only the next one's, lie behind those of another.
bool position_lies_behind(const ChannelSumPlan& plan, int k, int64_t size) {
    const int64_t run = plan.channels * size;
    for (int i = 0; i < plan.positions.count; ++i)
        if (plan.positions.stride[i][k] == run) return true;
    return false;
}

// kAlongChannels, from memory: of which operands the next run is asked for instead of what lies
// behind one, as that is no position's or another task's. Measured: 0.3 to 0.9 of the time.
void ask_for_runs_apart(ChannelSumPlan& plan, int64_t size) {
    const bool is_run = plan.channel_tiles == 1 && follow_each_other(plan, size, kInputs);
    if (plan.lanes_together > 1 || plan.by_lane || is_run) return;
    plan.prefetch = std::max(plan.prefetch, kNextLoadsBytes);
    for (int k = 0; k < plan.operands; ++k) {
        plan.is_apart[k] = plan.channel_tiles > 1 || !position_lies_behind(plan, k, size);
        plan.asks_apart = plan.asks_apart || plan.is_apart[k];
    }
}

// kAlongChannels: whether there are so few positions that thirty-two channels of all of them are
// taken at a time, and enough channels that those left over do not count (measured, in a cache).
bool has_few_positions(const ChannelSumPlan& plan, bool from_memory) {
    constexpr int64_t kFewWritten = 48, kManyChannels = 128;
    const int64_t most = plan.operands > kInputs ? kFewWritten : kFewPositions;
    return plan.is_direct() && plan.rows_as_channels == RowsAsChannels::kNot && !from_memory &&
           plan.rows == 1 && plan.row_length <= most &&
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
bool long_runs_pay(const ChannelSumPlan& plan, int64_t size, int threads) {
    const bool from_memory = comes_from_memory(plan.bytes);
    constexpr int64_t kFarRunBytes = 8192, kFewest = 4 * kSumLanes;
    const int64_t positions = plan.rows_per_block * std::min(plan.chunk, plan.row_length);
    if (plan.transposes || has_few_positions(plan, from_memory) || positions < kFewest)
        return false;
    const bool are_odd = plan.lanes_together == 1 && plan.channels % kWholeChannels != 0;
    const bool streams = plan.operands > kInputs &&
                         streaming_pays(plan.bytes, threads == 1, Gain::kAlways) &&
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

// kAlongChannels: as many as fit, as every further tile makes runs of memory shorter. `threads` had
// better share a position.
int64_t even_tile(const ChannelSumPlan& plan, int64_t outer, int threads) {
    const int64_t most = std::max<int64_t>(1, plan.channel_tile / kWholeChannels);
    return kWholeChannels *
           even_share(divide_up(plan.channels, kWholeChannels), most, 1, [&](int64_t tiles) {
               return shares_are_even(plan, outer, tiles, threads, kUneven);
           });
}

}  // namespace

void tile_channels(ChannelSumPlan& plan, int64_t size, int64_t outer, int threads,
                   int of_position) {
    const int64_t lanes = std::min<int64_t>(kSumLanes, plan.row_length);
    plan.channel_tile = plan.transposes ? kTransposed : kChannelTile;
    if (plan.stages) plan.channel_tile = std::min(kChannelTile, kStagedElements / lanes);
    plan.lanes_together = lanes_together(plan, size, kChannelTile);
    const int32_t longest = long_runs_pay(plan, size, threads)
                                ? lanes_together(plan, size, kRunElements)
                                : plan.lanes_together;
    const bool are_few = plan.channels < kFewestShared;
    const int32_t together = are_few ? longest : plan.lanes_together;
    if (together < (threads > 2 ? kManyLanes : kManyLanesForTwo) ||
        (!are_few && 2 * outer <= threads))
        plan.channel_tile = even_tile(plan, outer, std::min(threads, of_position));
    plan.lanes_together = plan.channel_tile < plan.channels ? 1 : longest;
}

void choose_runs(ChannelSumPlan& plan, int64_t size) {
    const bool from_memory = comes_from_memory(plan.bytes);
    plan.has_few = has_few_positions(plan, from_memory);
    // Those left over are then walked by themselves.
    if (plan.has_few && plan.channels % kWholeChannels != 0) plan.lanes_together = 1;
    choose_group(plan, size, from_memory);
    if (from_memory) {
        ask_for_runs_apart(plan, size);
    } else if (plan.channel_tiles > 1 && plan.operands > kInputs) {
        // Behind a run another thread writes: measured, with two 0.3 to 0.8 of the time.
        plan.asks_apart = plan.is_apart[kInputs] = true;
    }
    plan.aligns = can_align(plan, size);
}

}  // namespace ascend_grad
