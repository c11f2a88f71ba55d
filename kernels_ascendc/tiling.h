// The tiling data of every kernel in kernels.def.
#pragma once

#include "device/channel_sum.h"
#include "device/strided_copy.h"
#include "ops/avg_pool2d_backward/tiling.h"
#include "ops/softmax_backward/tiling.h"
