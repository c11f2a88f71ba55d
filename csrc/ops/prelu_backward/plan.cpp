#include "core/streaming.h"
#include "ops/prelu_backward/op.h"

namespace ascend_grad {

using Op = PreluBackward;

namespace {

// `loops` are empty before.
void set_elements(Loops& loops, const TensorView& view) {
    loops.operands = 1;
    for (int i = 0; i < view.rank; ++i) loops.append(view.shape[i], &view.strides[i]);
    loops.merge();
}

// Whether what is written in one piece is whole cache lines, or each part of a line is followed by
// the other one: along channels, where these lie one after the other and are written in order.
bool fills_lines(const ChannelSumPlan& sums, const TensorView& grad_input) {
    const auto size = data_type_size(grad_input.dtype);
    const bool has_whole_elements = reinterpret_cast<intptr_t>(grad_input.data) % size == 0;
    if (sums.traversal == Traversal::kAlongPositions) {
        if (sums.joins_rows && size == 4) return has_whole_elements;
        return sums.piece == 0 && has_whole_lines(grad_input, {sums.chunk});
    }
    if (sums.aligns && !sums.by_lane && sums.channel_tiles == 1) return has_whole_elements;
    if (sums.lanes_together == 1)
        return has_whole_lines(grad_input, {sums.channels, sums.channel_tile});
    const int64_t run = sums.lanes_together * sums.channels;
    return are_whole_lines({reinterpret_cast<intptr_t>(grad_input.data), run * size,
                            sums.rows > 1 ? sums.row_stride[2] : 0});
}

// Whether grad_input is separate and aligned enough for streaming stores, if it is large.
bool streaming_fits(const Op::Plan& plan, const Op::Args& args) {
    const TensorView& grad_input = *args.tensors[Op::kGradInput];
    for (const int input : {Op::kGradOutput, Op::kSelf}) {
        if (grad_input.data == args.tensors[input]->data) return false;
    }
    const ChannelSumPlan& sums = plan.sums;
    if (sums.panels.count > 0 || sums.staged[2]) return false;
    if (sums.piece > 0) return sums.writes_runs(data_type_size(grad_input.dtype));
    return sums.transposes || plan.fills_lines || sums.traversal == Traversal::kAlongPositions;
}

}  // namespace

Op::Plan Op::plan(const Args& args) {
    const TensorView& self = *args.tensors[kSelf];
    const TensorView& weight = *args.tensors[kWeight];
    const TensorView& grad_input = *args.tensors[kGradInput];
    Plan plan{};
    plan.is_empty = self.is_empty();
    plan.dtype = self.dtype;
    plan.one_weight = weight.numel == 1;
    plan.channels = channel_count(self);
    set_elements(plan.weight, weight);
    set_elements(plan.grad_weight, *args.tensors[kGradWeight]);
    if (plan.is_empty) return plan;
    const TensorView grad = broadcast(*args.tensors[kGradOutput], self);
    const TensorView* views[] = {&grad, &self, &grad_input};
    plan_channel_sum(plan.sums, views, 3, 1);
    plan.bytes = plan.sums.bytes;
    plan.fills_lines = fills_lines(plan.sums, grad_input);
    plan.streaming_fits = streaming_fits(plan, args);
    plan.in_one_pass = plan.sums.blocks == 1 && plan.sums.panels.count == 0 && !plan.one_weight;
    if (plan.in_one_pass) {
        const auto size = data_type_size(plan.dtype);
        const auto is_dense = [&](const Loops& loops) {
            return loops.count <= 1 && loops.stride[0][0] == size;
        };
        plan.is_elementwise = plan.sums.has_few && plan.sums.row_length == 1 &&
                              is_dense(plan.weight) && is_dense(plan.grad_weight);
        return plan;
    }
    plan.workspace_size = plan.sums.workspace_size();
    return plan;
}

}  // namespace ascend_grad
