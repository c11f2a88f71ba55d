// Every operator.
#pragma once

#include "ops/avg_pool2d_backward/op.h"
#include "ops/batch_norm_reduce_backward/op.h"
#include "ops/prelu_backward/op.h"
#include "ops/softmax_backward/op.h"
