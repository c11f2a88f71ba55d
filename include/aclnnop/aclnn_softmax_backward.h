// Gradient of softmax with respect to its input:
//   out = output * (gradOutput - s),  s = SUM over dim of gradOutput * output
//
// gradOutput, output: rank 0..8, same shape and type; FLOAT, FLOAT16 or BFLOAT16 (not on Ascend910
// and Ascend310P). dim: -rank <= dim < rank. out: the same shape; FLOAT, FLOAT16, BFLOAT16 or
// DOUBLE; may be exactly one of the inputs. Any strides and formats. Sums are float or wider, out
// is rounded once. Nothing is done where an input is empty.
#ifndef ASCEND_GRAD_ACLNNOP_ACLNN_SOFTMAX_BACKWARD_H
#define ASCEND_GRAD_ACLNNOP_ACLNN_SOFTMAX_BACKWARD_H

#ifdef __cplusplus
#include <array>
#endif

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// ACLNN_ERR_PARAM_NULLPTR and ACLNN_ERR_PARAM_INVALID leave workspaceSize (bytes) and executor as
// they are.
ACLNN_API aclnnStatus aclnnSoftmaxBackwardGetWorkspaceSize(const aclTensor* gradOutput,
                                                           const aclTensor* output, int64_t dim,
                                                           aclTensor* out, uint64_t* workspaceSize,
                                                           aclOpExecutor** executor);

// Runs what the executor holds on the stream; results are there after aclrtSynchronizeStream.
// workspace: at least workspaceSize bytes as phase 1 gave it, null where that is 0. The executor is
// used up, whatever is returned, unless it is repeatable or another operator's.
// ACLNN_ERR_PARAM_NULLPTR: a null or used executor, a tensor or workspace without an address.
// ACLNN_ERR_PARAM_INVALID: a workspace too small or overlapping a tensor, addresses that make
// tensors overlap. ACLNN_ERR_RUNTIME_ERROR: no such stream.
ACLNN_API aclnnStatus aclnnSoftmaxBackward(void* workspace, uint64_t workspaceSize,
                                           aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
