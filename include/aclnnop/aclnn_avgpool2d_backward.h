// Gradient of 2-D average pooling with respect to its input: gradInput[.., h, w] is the sum of
// gradOutput[.., i, j] / d over the windows (i, j) that cover (h, w).
//
// gradOutput (N, C, Ho, Wo) or (C, Ho, Wo), self and gradInput (N, C, H, W) or (C, H, W); NCHW, or
// NCL for three dimensions; FLOAT, FLOAT16 or BFLOAT16 (not on Ascend910 and Ascend310P), all of
// one type. Only the description of self is used. kernelSize, stride, padding: one or two values,
// height first; kernelSize at most 2^60; stride null or empty: kernelSize; 2 * padding <=
// kernelSize. d: divisorOverride (-255..255) unless 0, else the elements of the window in the
// padded input (countIncludePad) or in the input. ceilMode changes only the extent that gradOutput
// should have; any extent is computed with. cubeMathType, for FLOAT only: 0 float arithmetic, 1 and
// 3 gradOutput rounded to HF32, 2 in FLOAT16; on Ascend910 and Ascend310P 1 and 2 in FLOAT16, 0 and
// 3 are errors. Any strides; sums are float, gradInput is rounded once.
#ifndef ASCEND_GRAD_ACLNNOP_ACLNN_AVGPOOL2D_BACKWARD_H
#define ASCEND_GRAD_ACLNNOP_ACLNN_AVGPOOL2D_BACKWARD_H

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// ACLNN_ERR_PARAM_NULLPTR and ACLNN_ERR_PARAM_INVALID leave workspaceSize (bytes) and executor as
// they are.
ACLNN_API aclnnStatus aclnnAvgPool2dBackwardGetWorkspaceSize(
    const aclTensor* gradOutput, const aclTensor* self, const aclIntArray* kernelSize,
    const aclIntArray* stride, const aclIntArray* padding, bool ceilMode, bool countIncludePad,
    int64_t divisorOverride, int8_t cubeMathType, aclTensor* gradInput, uint64_t* workspaceSize,
    aclOpExecutor** executor);

// Runs what the executor holds on the stream; results are there after aclrtSynchronizeStream.
// workspace: at least workspaceSize bytes as phase 1 gave it, null where that is 0. The executor is
// used up, whatever is returned, unless it is repeatable or another operator's.
// ACLNN_ERR_PARAM_NULLPTR: a null or used executor, a tensor or workspace without an address.
// ACLNN_ERR_PARAM_INVALID: a workspace too small or overlapping a tensor, addresses that make
// tensors overlap. ACLNN_ERR_RUNTIME_ERROR: no such stream.
ACLNN_API aclnnStatus aclnnAvgPool2dBackward(void* workspace, uint64_t workspaceSize,
                                             aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
