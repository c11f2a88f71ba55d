#include "core/check.h"
#include "ops/softmax_backward/op.h"

namespace ascend_grad {

using Op = SoftmaxBackward;

const OperatorInfo& Op::info() {
    static const OperatorInfo info{{"aclnnSoftmaxBackward", "softmax_backward"},
                                   soc_bit(Soc::kAscend910) | soc_bit(Soc::kAscend910B) |
                                       soc_bit(Soc::kAscend910_93) | soc_bit(Soc::kAscend310P),
                                   3,
                                   {{{"gradOutput", "grad_output"}, Role::kInput},
                                    {{"output", "output"}, Role::kInput},
                                    {{"out", "out"}, Role::kElementwiseOutput, kGradOutput}}};
    return info;
}

TensorView Op::describe_output(const Args& args, int) {
    const TensorView& grad = *args.tensors[kGradOutput];
    TensorView view;
    view.dtype = grad.dtype;
    set_contiguous(view, grad.stored_rank(), grad.shape);
    return view;
}

Status Op::check(const Args& args) {
    const Checker check(info(), args);
    const Tensors all{kGradOutput, kOutput, kOut};
    ASCEND_GRAD_TRY(check.not_null(all));
    const TensorView& grad = check.tensor(kGradOutput);
    // Then CANN returns at once and leaves out as it is. A result that Python asked us to make has
    // no values to keep, so that the rules decide.
    if (args.is_empty() && !check.tensor(kOut).is_described) return {};
    ASCEND_GRAD_TRY(check.dtype_is_supported({kGradOutput, kOutput}));
    ASCEND_GRAD_TRY(check.dtype_equals({kOutput}, kGradOutput));
    const int64_t dims = grad.rank > 1 ? grad.rank : 1;
    if (args.dim < -dims || args.dim >= dims) {
        return check.invalid(Name{"dim", "dim"}, "must be between " + std::to_string(-dims) +
                                                     " and " + std::to_string(dims - 1) + " for " +
                                                     check.name(kGradOutput) + " of shape " +
                                                     shape_text(grad) + ", got " +
                                                     std::to_string(args.dim));
    }
    ASCEND_GRAD_TRY(check.rank_is_between({kGradOutput}, 0, kMaxRank));
    ASCEND_GRAD_TRY(check.shape_equals(kOutput, kGradOutput));
    ASCEND_GRAD_TRY(check.shape_equals(kOut, kGradOutput));
    const DataType dtype = check.tensor(kOut).dtype;
    if (dtype != DataType::kFloat32 && dtype != DataType::kFloat16 &&
        dtype != DataType::kBFloat16 && dtype != DataType::kFloat64) {
        return check.invalid(
            kOut, std::string("dtype must be float32, float16, bfloat16 or float64, got ") +
                      dtype_text(check.tensor(kOut)));
    }
    return check.memory_and_product(all);
}

}  // namespace ascend_grad
