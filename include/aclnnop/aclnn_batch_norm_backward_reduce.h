// The sums over all axes but 1 of batch normalisation's backward pass, per channel c:
//   sumDy = SUM gradOut                           gradBias   = sumDy
//   sumDyXmu = SUM gradOut * (input - mean[c])    gradWeight = invstd[c] * sumDyXmu
//
// gradOut, input: rank 2..8, same shape and type, shape[1] = C > 0. mean, invstd: [C]. weight: [C]
// or null; changes nothing. sumDy and sumDyXmu (where inputG), gradWeight (weightG), gradBias
// (biasG): [C]; not looked at where the flag is false. FLOAT, FLOAT16 or BFLOAT16 (not on
// Ascend910), vectors independently; no private format. Any strides. Sums are float or wider, each
// result is rounded once; zeros where input is empty. Does not exist on Ascend310P.
#ifndef ASCEND_GRAD_ACLNNOP_ACLNN_BATCH_NORM_BACKWARD_REDUCE_H
#define ASCEND_GRAD_ACLNNOP_ACLNN_BATCH_NORM_BACKWARD_REDUCE_H

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// ACLNN_ERR_PARAM_NULLPTR, ACLNN_ERR_PARAM_INVALID and, where the product lacks the operator,
// ACLNN_ERR_INNER_FIND_KERNEL_ERROR leave workspaceSize (bytes) and executor as they are.
ACLNN_API aclnnStatus aclnnBatchNormReduceBackwardGetWorkspaceSize(
    const aclTensor* gradOut, const aclTensor* input, const aclTensor* mean,
    const aclTensor* invstd, const aclTensor* weight, const bool inputG, const bool weightG,
    const bool biasG, aclTensor* sumDy, aclTensor* sumDyXmu, aclTensor* gradWeight,
    aclTensor* gradBias, uint64_t* workspaceSize, aclOpExecutor** executor);

// Runs what the executor holds on the stream; results are there after aclrtSynchronizeStream.
// workspace: at least workspaceSize bytes as phase 1 gave it, null where that is 0. The executor is
// used up, whatever is returned, unless it is repeatable or another operator's.
// ACLNN_ERR_PARAM_NULLPTR: a null or used executor, a tensor or workspace without an address.
// ACLNN_ERR_PARAM_INVALID: a workspace too small or overlapping a tensor, addresses that make
// tensors overlap. ACLNN_ERR_RUNTIME_ERROR: no such stream.
ACLNN_API aclnnStatus aclnnBatchNormReduceBackward(void* workspace, uint64_t workspaceSize,
                                                   aclOpExecutor* executor,
                                                   const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
