// The parts of choosing how a ChannelSumPlan walks memory.
#pragma once

#include "core/channel_sum.h"

namespace ascend_grad {

inline constexpr int kInputs = 2;  // operands that are read

// `size` of an element, everywhere here.

// Of neighbouring channels: whether positions lie one after the other in the first `operands`.
bool follow_each_other(const ChannelSumPlan& plan, int64_t size, int operands);
// Whether positions of a row lie one after the other in tensor k, whatever they do in others.
bool has_runs_of_positions(const ChannelSumPlan& plan, int k, int64_t size);
// Whether some operand's channels are neighbours.
bool has_neighbours(const ChannelSumPlan& plan, int64_t size);
// Whether some operand's channels are neighbours, or only a few positions apart.
bool has_near_channels(const ChannelSumPlan& plan, int64_t size);

// Has rows walked as if they were channels where they lie nearest in all operands, or behind the
// channels of a position; the result may instead lie along positions, which is transposed then.
void walk_rows_as_channels(ChannelSumPlan& plan, int64_t size);
// Sets which way memory is walked, and what is transposed or staged for it.
void choose_traversal(ChannelSumPlan& plan, int64_t size);

// kAlongChannels: channels of a task, and how many positions of them are walked together. `outer`
// blocks; `of_position` threads had better share a position.
void tile_channels(ChannelSumPlan& plan, int64_t size, int64_t outer, int threads, int of_position);
// How those runs of channels are walked, once the tiles are known.
void choose_runs(ChannelSumPlan& plan, int64_t size);

}  // namespace ascend_grad
