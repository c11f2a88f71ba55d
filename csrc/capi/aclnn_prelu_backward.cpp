#include "aclnnop/aclnn_prelu_backward.h"

#include "capi/executor.h"
#include "ops/prelu_backward/op.h"

using namespace ascend_grad;
using Op = PreluBackward;

aclnnStatus aclnnPreluBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* self,
                                               const aclTensor* weight, aclTensor* gradInput,
                                               aclTensor* gradWeight, uint64_t* workspaceSize,
                                               aclOpExecutor** executor) {
    return capi::get_workspace_size<Op>(workspaceSize, executor, [&](capi::OperatorCall<Op>& call) {
        call.set(Op::kGradOutput, gradOutput);
        call.set(Op::kSelf, self);
        call.set(Op::kWeight, weight);
        call.set(Op::kGradInput, gradInput);
        call.set(Op::kGradWeight, gradWeight);
    });
}

aclnnStatus aclnnPreluBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                               aclrtStream stream) {
    return capi::run(Op::info(), workspace, workspaceSize, executor, stream);
}
