// Gradients of PReLU with respect to its input and its weight:
//   gradInput  = self > 0 ? gradOutput : weight * gradOutput
//   gradWeight = SUM of (self > 0 ? 0 : self * gradOutput), over all axes but 1, or over all where
//   weight has one element
//
// self: rank 0..8; FLOAT, FLOAT16 or BFLOAT16 (not on Ascend910), and all others are of its type.
// gradOutput: broadcastable to self. weight: one element, or one per channel (self.shape[1]; 1
// below rank 2) in any shape. gradInput: shape of self; may be exactly an input. gradWeight: shape
// of a one-element weight, else one dimension of channels. Any strides and formats. Sums are float
// or wider; results are rounded once. Does not exist on Ascend310P.
#ifndef ASCEND_GRAD_ACLNNOP_ACLNN_PRELU_BACKWARD_H
#define ASCEND_GRAD_ACLNNOP_ACLNN_PRELU_BACKWARD_H

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// ACLNN_ERR_PARAM_NULLPTR, ACLNN_ERR_PARAM_INVALID and, where the product lacks the operator,
// ACLNN_ERR_INNER_FIND_KERNEL_ERROR leave workspaceSize (bytes) and executor as they are.
ACLNN_API aclnnStatus aclnnPreluBackwardGetWorkspaceSize(
    const aclTensor* gradOutput, const aclTensor* self, const aclTensor* weight,
    aclTensor* gradInput, aclTensor* gradWeight, uint64_t* workspaceSize, aclOpExecutor** executor);

// Runs what the executor holds on the stream; results are there after aclrtSynchronizeStream.
// workspace: at least workspaceSize bytes as phase 1 gave it, null where that is 0. The executor is
// used up, whatever is returned, unless it is repeatable or another operator's.
// ACLNN_ERR_PARAM_NULLPTR: a null or used executor, a tensor or workspace without an address.
// ACLNN_ERR_PARAM_INVALID: a workspace too small or overlapping a tensor, addresses that make
// tensors overlap. ACLNN_ERR_RUNTIME_ERROR: no such stream.
ACLNN_API aclnnStatus aclnnPreluBackward(void* workspace, uint64_t workspaceSize,
                                         aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
