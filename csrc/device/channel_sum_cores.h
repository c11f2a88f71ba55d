// How many cores share sums over channels.
#pragma once

#include "device/channel_sum_lanes.h"

namespace ascend_grad::device {

// Channels without gaps between them, wherever each begins.
bool are_joined(const ChannelSumTiling& t);
// Bytes that all cores could load while the slowest of `cores` makes its share of so many loads.
double joined_cost(int64_t loads, int64_t bytes, int64_t cores);
// Which number of cores gets through them sooner.
int64_t joined_cores(int64_t loads, int64_t bytes, const ChannelLimits& limits);

// Cores that move what global memory delivers.
int64_t enough_cores(const ChannelSumKernel& kernel, const Product& product);
// Returns the number of cores and sets how many contribute to a sum.
uint32_t share_out(const ChannelShape& shape, const ChannelSumKernel& kernel,
                   const ChannelLimits& limits, ChannelSumTiling& t);

}  // namespace ascend_grad::device
