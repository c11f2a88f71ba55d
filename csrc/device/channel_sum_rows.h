// Rows of channels as one run of memory, loaded from even place to even place.
#pragma once

#include "device/channel_sum_lanes.h"

namespace ascend_grad::device {

// Makes CHANNEL_SUM_EVEN_ROWS of rows of which some begin unevenly, and of short rows of channels
// with several positions whose lanes would: only sums need room for whole rows, loads end at any
// even place. Leaves `t`, the lanes of choose_lanes(), where rows do not fit or those take less
// time.
bool tile_even_rows(const ChannelShape& shape, const ChannelSumKernel& kernel,
                    const Product& product, const ChannelLimits& limits, ChannelSumTiling& t);

}  // namespace ascend_grad::device
