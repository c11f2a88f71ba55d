// How many cores share sums over channels.
#pragma once

#include "device/channel_sum_lanes.h"

namespace ascend_grad::device {

// The fewest that load what global memory delivers: more than kSaturatingCores, since copies take
// time to start.
constexpr uint32_t kLoadingCores = 31;

// Cores that move what global memory delivers.
int64_t enough_cores(const ChannelSumKernel& kernel, const Product& product);
// Returns the number of cores and sets how many contribute to a sum.
uint32_t share_out(const ChannelShape& shape, const ChannelSumKernel& kernel,
                   const ChannelLimits& limits, ChannelSumTiling& t);

}  // namespace ascend_grad::device
