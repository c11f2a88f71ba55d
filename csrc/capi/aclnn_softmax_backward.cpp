#include "aclnnop/aclnn_softmax_backward.h"

#include "capi/executor.h"
#include "ops/softmax_backward/op.h"

using namespace ascend_grad;
using Op = SoftmaxBackward;

aclnnStatus aclnnSoftmaxBackwardGetWorkspaceSize(const aclTensor* gradOutput,
                                                 const aclTensor* output, int64_t dim,
                                                 aclTensor* out, uint64_t* workspaceSize,
                                                 aclOpExecutor** executor) {
    return capi::get_workspace_size<Op>(workspaceSize, executor, [&](capi::OperatorCall<Op>& call) {
        call.set(Op::kGradOutput, gradOutput);
        call.set(Op::kOutput, output);
        call.set(Op::kOut, out);
        call.args.dim = dim;
    });
}

aclnnStatus aclnnSoftmaxBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream) {
    return capi::run(Op::info(), workspace, workspaceSize, executor, stream);
}
