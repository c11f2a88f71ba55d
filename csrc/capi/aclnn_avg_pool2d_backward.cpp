#include "aclnnop/aclnn_avgpool2d_backward.h"
#include "capi/executor.h"

using namespace ascend_grad;
using Op = AvgPool2dBackward;

aclnnStatus aclnnAvgPool2dBackwardGetWorkspaceSize(
    const aclTensor* gradOutput, const aclTensor* self, const aclIntArray* kernelSize,
    const aclIntArray* stride, const aclIntArray* padding, bool ceilMode, bool countIncludePad,
    int64_t divisorOverride, int8_t cubeMathType, aclTensor* gradInput, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
    return capi::get_workspace_size<Op>(workspaceSize, executor, [&](capi::OperatorCall<Op>& call) {
        call.set(Op::kGradOutput, gradOutput);
        call.set(Op::kSelf, self);
        call.set("kernelSize", kernelSize, call.args.kernel_size);
        call.set("stride", stride, call.args.stride);
        call.set("padding", padding, call.args.padding);
        call.args.ceil_mode = ceilMode;
        call.args.count_include_pad = countIncludePad;
        call.args.divisor_override = divisorOverride;
        call.args.cube_math_type = cubeMathType;
        call.set(Op::kGradInput, gradInput);
    });
}

aclnnStatus aclnnAvgPool2dBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                   aclrtStream stream) {
    return capi::run(Op::info(), workspace, workspaceSize, executor, stream);
}
