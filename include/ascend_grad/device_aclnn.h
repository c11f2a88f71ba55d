// The aclnn functions on Ascend kernels of ours, under names that can live beside CANN's own
// library. Offered by the device libraries. Parameters, rules and status codes are those of the
// function without "AscendGrad" in its name; tensors, arrays and streams are those of the process's
// CANN.
//
// An executor is for the second phase of its own operator only, runs once, and needs the tensors'
// memory, not the tensors. One that does not run is destroyed by aclnnAscendGradDestroyExecutor,
// not by CANN's aclDestroyAclOpExecutor.
#ifndef ASCEND_GRAD_DEVICE_ACLNN_H
#define ASCEND_GRAD_DEVICE_ACLNN_H

#include "aclnn/aclnn_base.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnAscendGradBatchNormReduceBackwardGetWorkspaceSize(
    const aclTensor* gradOut, const aclTensor* input, const aclTensor* mean,
    const aclTensor* invstd, const aclTensor* weight, bool inputG, bool weightG, bool biasG,
    aclTensor* sumDy, aclTensor* sumDyXmu, aclTensor* gradWeight, aclTensor* gradBias,
    uint64_t* workspaceSize, aclOpExecutor** executor);
aclnnStatus aclnnAscendGradBatchNormReduceBackward(void* workspace, uint64_t workspaceSize,
                                                   aclOpExecutor* executor, aclrtStream stream);

aclnnStatus aclnnAscendGradAvgPool2dBackwardGetWorkspaceSize(
    const aclTensor* gradOutput, const aclTensor* self, const aclIntArray* kernelSize,
    const aclIntArray* stride, const aclIntArray* padding, bool ceilMode, bool countIncludePad,
    int64_t divisorOverride, int8_t cubeMathType, aclTensor* gradInput, uint64_t* workspaceSize,
    aclOpExecutor** executor);
aclnnStatus aclnnAscendGradAvgPool2dBackward(void* workspace, uint64_t workspaceSize,
                                             aclOpExecutor* executor, aclrtStream stream);

aclnnStatus aclnnAscendGradPreluBackwardGetWorkspaceSize(
    const aclTensor* gradOutput, const aclTensor* self, const aclTensor* weight,
    aclTensor* gradInput, aclTensor* gradWeight, uint64_t* workspaceSize, aclOpExecutor** executor);
aclnnStatus aclnnAscendGradPreluBackward(void* workspace, uint64_t workspaceSize,
                                         aclOpExecutor* executor, aclrtStream stream);

aclnnStatus aclnnAscendGradSoftmaxBackwardGetWorkspaceSize(const aclTensor* gradOutput,
                                                           const aclTensor* output, int64_t dim,
                                                           aclTensor* out, uint64_t* workspaceSize,
                                                           aclOpExecutor** executor);
aclnnStatus aclnnAscendGradSoftmaxBackward(void* workspace, uint64_t workspaceSize,
                                           aclOpExecutor* executor, aclrtStream stream);

// 161001 for what is no executor that is yet to run.
aclnnStatus aclnnAscendGradDestroyExecutor(aclOpExecutor* executor);

#ifdef __cplusplus
}
#endif

#endif
