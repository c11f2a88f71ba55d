#include "core/check.h"
#include "ops/prelu_backward/op.h"

namespace ascend_grad {

using Op = PreluBackward;

const OperatorInfo& Op::info() {
    static const OperatorInfo info{
        {"aclnnPreluBackward", "prelu_backward"},
        soc_bit(Soc::kAscend910) | soc_bit(Soc::kAscend910B) | soc_bit(Soc::kAscend910_93),
        5,
        {{{"gradOutput", "grad_output"}, Role::kInput},
         {{"self", "input"}, Role::kInput},
         {{"weight", "weight"}, Role::kInput},
         {{"gradInput", "grad_input"}, Role::kElementwiseOutput, kSelf},
         {{"gradWeight", "grad_weight"}, Role::kOutput, kWeight}}};
    return info;
}

TensorView Op::describe_output(const Args& args, int output) {
    const TensorView& self = *args.tensors[kSelf];
    const TensorView& weight = *args.tensors[kWeight];
    TensorView view;
    view.dtype = self.dtype;
    const int64_t channels = channel_count(self);
    if (output == kGradInput) {
        set_contiguous(view, self.stored_rank(), self.shape);
    } else if (weight.numel == 1) {
        set_contiguous(view, weight.stored_rank(), weight.shape);
    } else {
        set_contiguous(view, 1, &channels);
    }
    return view;
}

namespace {

Status check_weight(const Checker& check) {
    const TensorView& self = check.tensor(Op::kSelf);
    const TensorView& weight = check.tensor(Op::kWeight);
    if (weight.numel == 1) return check.shape_equals(Op::kGradWeight, Op::kWeight);
    const int64_t channels = Op::channel_count(self);
    const auto given = [&weight] {
        return ", got " + std::to_string(weight.numel) + " elements, shape " + shape_text(weight);
    };
    if (self.rank == 0) {
        return check.invalid(Op::kWeight, "must have one element where " +
                                              std::string(check.name(Op::kSelf)) + " is a scalar" +
                                              given());
    }
    if (weight.numel != channels) {
        return check.invalid(Op::kWeight, "must have one element or one per channel, " +
                                              std::to_string(channels) + " for " +
                                              check.name(Op::kSelf) + " of shape " +
                                              shape_text(self) + given());
    }
    return check.shape_is({Op::kGradWeight}, 1, &channels, "one value per channel");
}

Status check_broadcast(const Checker& check) {
    const TensorView& grad = check.tensor(Op::kGradOutput);
    const TensorView& self = check.tensor(Op::kSelf);
    bool fits = grad.rank <= self.rank;
    for (int i = 0; fits && i < grad.rank; ++i) {
        const int64_t extent = grad.shape[grad.rank - 1 - i];
        fits = extent == 1 || extent == self.shape[self.rank - 1 - i];
    }
    if (fits) return {};
    return check.invalid(Op::kGradOutput, std::string("shape must broadcast to that of ") +
                                              check.name(Op::kSelf) + ", " + shape_text(self) +
                                              ", got " + shape_text(grad));
}

}  // namespace

Status Op::check(const Args& args) {
    const Checker check(info(), args);
    const Tensors all{kGradOutput, kSelf, kWeight, kGradInput, kGradWeight};
    ASCEND_GRAD_TRY(check.not_null(all));
    ASCEND_GRAD_TRY(check.dtype_is_supported({kSelf}));
    ASCEND_GRAD_TRY(check.dtype_equals(all, kSelf));
    ASCEND_GRAD_TRY(check.rank_is_between(all, 0, kMaxRank));
    ASCEND_GRAD_TRY(check.shape_equals(kGradInput, kSelf));
    ASCEND_GRAD_TRY(check_weight(check));
    ASCEND_GRAD_TRY(check_broadcast(check));
    return check.memory_and_product(all);
}

}  // namespace ascend_grad
