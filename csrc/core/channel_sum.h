// How sums over every axis but the channel axis (axis 1) are cut into blocks, and how memory is
// walked meanwhile.
//
// The order of additions depends on the shape alone, never on strides, threads or instruction set.
// A tensor is seen as `channels` x `rows` x `row_length`: a row is one batch item's positions, or,
// where that would be shorter than 16, all positions of the channel. Element i of a row goes to
// lane i % 16. A block is a chunk of a long row or several short rows; its sixteen lane sums
// (float) are added by a fixed tree, and the blocks' sums in order (double).
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/layout.h"
#include "core/panels.h"
#include "core/parallel.h"
#include "core/sum_block.h"

namespace ascend_grad {

// Blocks of a long row that one task makes, at most.
inline constexpr int64_t kChunksPerTask = kTaskElements / kSharedSumBlock;
inline constexpr int64_t kChannelTile = 1024;  // channels of a task along channels, at most
inline constexpr int64_t kRowChannels = 256;   // along positions, at most
inline constexpr int64_t kFewChannels = 64;    // where something is transposed, at most
inline constexpr int64_t kPositionGroup = 64;  // positions that it takes at a time, at most
// Of few channels, where nothing is transposed.
inline constexpr int64_t kFewChannelsGroup = 256;
inline constexpr int64_t kFewPositions = 64;   // whose sums stay in registers, at most
inline constexpr int64_t kWholeChannels = 32;  // channels that kernels take at a time
inline constexpr int64_t kTransposed = 256;    // neighbours that are transposed at a time
inline constexpr int64_t kStagedLines = 64;    // of neighbours, of a tile, at most
inline constexpr int64_t kFinishTile = 64;     // channels whose blocks' sums are added at a time
// Elements of positions that are walked together, at most.
inline constexpr int64_t kRunElements = kSumLanes * kChannelTile;

enum class Traversal : int32_t {
    kAlongPositions,  // positions of a row are contiguous in the inputs, every second element,
                      // pieces that are contiguous, or made so
    kAlongChannels,   // channels are contiguous in the inputs, or made so
};

// Whether rows are walked as if they were channels, which may be where every block has one row.
enum class RowsAsChannels : int32_t {
    kNot,
    kInner,  // `inner` rows of a channel, and behind them those of the next one; or, where they do
             // not follow there, as many of each channel, which is walked as a row
    kOuter,  // `inner` channels of a row, and behind them those of the next one
};
struct ChannelRow {
    int64_t channel, row;
};

struct ChannelSumPlan {
    Traversal traversal;
    bool transposes;  // the output's neighbours in memory are not the inputs'
    bool stages;      // some operand goes through dense tiles that lie as the traversal wants them:
    bool staged[Loops::kMaxOperands];  // this one
    int32_t position_step;             // kAlongPositions: elements between neighbours in the inputs
    int32_t operands;                  // tensors walked together
    int32_t sums;                      // sums per channel
    int64_t channels;
    int64_t rows;
    int64_t row_length;
    int64_t bytes;                                // that the call, or the panel, moves
    int64_t channel_stride[Loops::kMaxOperands];  // bytes, as all strides here
    int64_t row_stride[Loops::kMaxOperands];
    Loops positions;  // of one row, in order

    int64_t rows_per_block;  // 1 where a row has several blocks
    int64_t chunk;           // elements of a row per block
    int64_t chunks_per_row;  // blocks of a row; 1 where a block has several rows
    int64_t blocks;          // of each channel
    int64_t chunks_per_task;
    int64_t channel_tile;  // channels per task
    int64_t channel_tiles;
    int64_t tasks;         // block after block, or chunks, of each all channel tiles
    int64_t most_threads;  // that had better share these
    // kAlongChannels:
    RowsAsChannels rows_as_channels;  // `channels` and `rows` are then what is walked as such
    int64_t inner;                    // rows or channels that lie innermost there
    int64_t outer_stride;    // of an output that is transposed: from so many to the next ones
    int32_t lanes_together;  // positions that lie in memory one after the other, whole
    bool has_few;            // positions: sums may stay in registers
    bool aligns;             // walks runs of channels from a cache line of the last operand on
    bool by_lane;            // all positions of a lane are taken, then those of the next
    int64_t position_group;  // positions taken at a time
    int64_t prefetch;        // how many bytes ahead loads are asked for; 0: none are
    bool asks_apart;         // for what comes next instead of what lies behind a run,
    bool is_apart[Loops::kMaxOperands];  // of this operand
    bool asks_into_second;               // into the second cache
    // kAlongPositions:
    int64_t piece;    // positions that lie one after the other in all operands, where those of a
                      // row do not; else 0
    bool by_channel;  // pieces of a channel that are equally far apart are walked one after the
                      // other, else those of all channels
    bool joins_rows;  // a task's rows lie one behind the other; where they are several chunks or
                      // no whole cache lines they are written as one run
    bool asks;        // loads are asked for
    int64_t aligned_bytes;  // rows of so many are walked from a cache line on
    bool asks_for_tiles;    // staged: for those of the next channels
    Panels panels;          // if any: tasks are these, each with a panel_plan()
    int64_t first_channel;  // of a panel, among those of the call
    int64_t call_channels;

    // Inlined even without optimisation: instruction set levels must not share these.
    // Whether every operand is walked where it lies.
    __attribute__((always_inline)) bool is_direct() const { return !transposes && !stages; }
    // kAlongPositions: whether that is so, and each row is a run.
    __attribute__((always_inline)) bool has_whole_rows() const { return is_direct() && piece == 0; }
    // What is walked as channel c of row r.
    __attribute__((always_inline)) ChannelRow walked(int64_t c, int64_t r) const {
        if (rows_as_channels == RowsAsChannels::kInner) return {c / inner + r, c % inner};
        if (rows_as_channels == RowsAsChannels::kOuter) return {c % inner, c / inner};
        return {c, r};
    }
    __attribute__((always_inline)) int64_t partial_count() const {
        return blocks * sums * call_channels;
    }
    // Whether pieces of the last operand, with elements of `size`, are walked as long runs of
    // memory or without gaps.
    bool writes_runs(int64_t size) const;
    // Of the blocks' sums, up to whole cache lines; and of the panels' scratch behind them.
    uint64_t partial_bytes() const;
    uint64_t workspace_size() const;
};

// The blocks' sums, by block, sum and channel: of `channels` channels from `first` on.
struct Partials {
    float* at;
    int64_t channels;
    int64_t first;
    __attribute__((always_inline)) float* of(const ChannelSumPlan& plan, int64_t block, int sum,
                                             int64_t channel) const {
        return at + (block * plan.sums + sum) * channels + channel - first;
    }
};

// `plan` is all zeros before. `views` have one shape of rank >= 1; the last is the tensor that is
// written, if any. No view is empty.
void plan_channel_sum(ChannelSumPlan& plan, const TensorView* const* views, int operands, int sums);

// Units of equal work, and the task that begins at one or next to it: the last block may have fewer
// rows.
int64_t work_units(const ChannelSumPlan& plan);
int64_t task_at(const ChannelSumPlan& plan, int64_t unit);
// Whether no thread's share is more than `uneven` times the mean if each of `outer` blocks, or
// chunks of a row, is that many tiles of channels.
bool shares_are_even(const ChannelSumPlan& plan, int64_t outer, int64_t tiles, int threads,
                     double uneven);

// Calls function(begin, end) for even shares of the tasks, as parallel_for() does.
template <class Function>
void share_tasks(const ChannelSumPlan& plan, int threads, const Function& function) {
    threads = static_cast<int>(std::min({int64_t{threads}, plan.tasks, plan.most_threads}));
    parallel_for(work_units(plan), threads, [&](int64_t begin, int64_t end) {
        const int64_t first = task_at(plan, begin), last = task_at(plan, end);
        if (first < last) function(first, last);
    });
}

// The rest of a plan without panels, whose operands are cut into blocks already; `size` of an
// element. At most so many threads will share it.
void plan_walk(ChannelSumPlan& plan, int64_t size, int most_threads);
// Cuts the call into panels if its operands' lines would be split, and it can be cut. `output` is
// that of cut_into_panels().
void take_panels(ChannelSumPlan& plan, DataType dtype, const void* output);
// Of a dense panel whose blocks are the call's from first_block on.
ChannelSumPlan panel_plan(const ChannelSumPlan& call, int64_t panel, int64_t& first_block);

}  // namespace ascend_grad
