#include "aclnnop/aclnn_batch_norm_backward_reduce.h"
#include "capi/executor.h"
#include "ops/batch_norm_reduce_backward/op.h"

using namespace ascend_grad;
using Op = BatchNormReduceBackward;

aclnnStatus aclnnBatchNormReduceBackwardGetWorkspaceSize(
    const aclTensor* gradOut, const aclTensor* input, const aclTensor* mean,
    const aclTensor* invstd, const aclTensor* weight, const bool inputG, const bool weightG,
    const bool biasG, aclTensor* sumDy, aclTensor* sumDyXmu, aclTensor* gradWeight,
    aclTensor* gradBias, uint64_t* workspaceSize, aclOpExecutor** executor) {
    return capi::get_workspace_size<Op>(workspaceSize, executor, [&](capi::OperatorCall<Op>& call) {
        call.args.input_g = inputG;
        call.args.weight_g = weightG;
        call.args.bias_g = biasG;
        const aclTensor* tensors[] = {gradOut, input,    mean,       invstd,  weight,
                                      sumDy,   sumDyXmu, gradWeight, gradBias};
        for (int i = 0; i < Op::info().tensor_count; ++i) {
            if (call.args.wants(i)) call.set(i, tensors[i]);
        }
    });
}

aclnnStatus aclnnBatchNormReduceBackward(void* workspace, uint64_t workspaceSize,
                                         aclOpExecutor* executor, const aclrtStream stream) {
    return capi::run(Op::info(), workspace, workspaceSize, executor, stream);
}
