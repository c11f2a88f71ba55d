// The four operators on memory of an Ascend device: addresses, shapes, strides and a stream,
// nothing copied.
//
// Offered by the device libraries, libascend_grad_npu_<family>.so and
// libascend_grad_emulator_<family>.so, under names that can live beside CANN's own libraries. The
// rules of the parameters are those of the aclnn functions. A call is checked before anything is
// written and runs asynchronously on the stream (null: the default stream of the current context).
// Its workspace belongs to the stream and is kept for the next call. Any thread may call.
#ifndef ASCEND_GRAD_DEVICE_H
#define ASCEND_GRAD_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "acl/acl.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct AscendGradTensor {
    void* data;         // device address of element (0, ..., 0)
    aclDataType dtype;  // ACL_FLOAT, ACL_FLOAT16 or ACL_BF16
    int32_t rank;       // 0 to 8
    const int64_t* shape;
    const int64_t* strides;  // in elements; null: contiguous
} AscendGradTensor;

// All return a status code of aclnn: 0 success, 161001, 161002, 361001, 561xxx. A null tensor is
// absent.

int32_t ascendGradBatchNormReduceBackward(
    const AscendGradTensor* gradOut, const AscendGradTensor* input, const AscendGradTensor* mean,
    const AscendGradTensor* invstd, const AscendGradTensor* weight, bool inputG, bool weightG,
    bool biasG, const AscendGradTensor* sumDy, const AscendGradTensor* sumDyXmu,
    const AscendGradTensor* gradWeight, const AscendGradTensor* gradBias, aclrtStream stream);

// `stride` may be null: the kernel size. `self` describes the forward's input; its data are not
// read and may be null.
int32_t ascendGradAvgPool2dBackward(const AscendGradTensor* gradOutput,
                                    const AscendGradTensor* self, const int64_t kernelSize[2],
                                    const int64_t stride[2], const int64_t padding[2],
                                    bool ceilMode, bool countIncludePad, int64_t divisorOverride,
                                    int8_t cubeMathType, const AscendGradTensor* gradInput,
                                    aclrtStream stream);

int32_t ascendGradPreluBackward(const AscendGradTensor* gradOutput, const AscendGradTensor* self,
                                const AscendGradTensor* weight, const AscendGradTensor* gradInput,
                                const AscendGradTensor* gradWeight, aclrtStream stream);

int32_t ascendGradSoftmaxBackward(const AscendGradTensor* gradOutput,
                                  const AscendGradTensor* output, int64_t dim,
                                  const AscendGradTensor* out, aclrtStream stream);

// What was wrong with this thread's latest call of a function above; "" after success. Valid until
// the next one.
const char* ascendGradErrorMessage(void);

#ifdef __cplusplus
}
#endif

#endif
