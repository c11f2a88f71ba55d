#include "ops/batch_norm_reduce_backward/op.h"

namespace ascend_grad {

using Op = BatchNormReduceBackward;

Op::Plan Op::plan(const Args& args) {
    const TensorView& input = *args.tensors[kInput];
    const auto channel_vector = [&](int i) {
        return ChannelVector{args.tensors[i]->dtype, args.tensors[i]->strides[0]};
    };
    Plan plan{};
    plan.is_empty = input.is_empty();
    plan.dtype = input.dtype;
    plan.channels = input.shape[1];
    plan.mean = channel_vector(kMean);
    plan.invstd = channel_vector(kInvstd);
    for (int i = 0; i < 4; ++i) {
        plan.wanted[i] = args.wants(kFirstOutput + i);
        if (plan.wanted[i]) plan.outputs[i] = channel_vector(kFirstOutput + i);
    }
    if (plan.is_empty) return plan;
    const TensorView* views[] = {args.tensors[kGradOut], &input};
    plan_channel_sum(plan.sums, views, 2, 2);
    plan.bytes = plan.sums.bytes;
    plan.in_one_pass = plan.sums.blocks == 1 && plan.sums.panels.count == 0;
    if (plan.in_one_pass) return plan;
    plan.workspace_size = plan.sums.workspace_size();
    return plan;
}

}  // namespace ascend_grad
