#include "core/check.h"
#include "ops/batch_norm_reduce_backward/op.h"

namespace ascend_grad {

using Op = BatchNormReduceBackward;

const OperatorInfo& Op::info() {
    static const OperatorInfo info{
        {"aclnnBatchNormReduceBackward", "batch_norm_reduce_backward"},
        soc_bit(Soc::kAscend910) | soc_bit(Soc::kAscend910B) | soc_bit(Soc::kAscend910_93),
        9,
        {{{"gradOut", "grad_out"}, Role::kInput},
         {{"input", "input"}, Role::kInput},
         {{"mean", "mean"}, Role::kInput},
         {{"invstd", "invstd"}, Role::kInput},
         {{"weight", "weight"}, Role::kDescription},
         {{"sumDy", "sum_dy"}, Role::kOutput, kInput},
         {{"sumDyXmu", "sum_dy_xmu"}, Role::kOutput, kInput},
         {{"gradWeight", "grad_weight"}, Role::kOutput, kInput},
         {{"gradBias", "grad_bias"}, Role::kOutput, kInput}}};
    return info;
}

TensorView Op::describe_output(const Args& args, int) {
    const TensorView& input = *args.tensors[kInput];
    TensorView view;
    const bool half =
        input.dtype == DataType::kFloat16 && args.tensors[kMean]->dtype == DataType::kFloat16;
    view.dtype = half ? DataType::kFloat16 : DataType::kFloat32;
    const int64_t channels = input.rank >= 2 ? input.shape[1] : 0;
    set_contiguous(view, 1, &channels);
    return view;
}

Status Op::check(const Args& args) {
    const Checker check(info(), args);
    const Tensors required{kGradOut, kInput, kMean, kInvstd};
    const Tensors weight = args.tensors[kWeight] != nullptr ? Tensors{kWeight} : Tensors{};
    Tensors outputs{};
    for (int i = kFirstOutput; i <= kGradBias; ++i) {
        if (args.wants(i)) outputs = outputs | Tensors{i};
    }
    ASCEND_GRAD_TRY(check.not_null(required | outputs));
    ASCEND_GRAD_TRY(check.dtype_is_supported(required | weight));
    ASCEND_GRAD_TRY(check.dtype_equals({kGradOut}, kInput));
    ASCEND_GRAD_TRY(check.dtype_is_supported(outputs));
    ASCEND_GRAD_TRY(check.format_equals(kGradOut, kInput));
    ASCEND_GRAD_TRY(check.format_is_not_private(required | outputs));
    ASCEND_GRAD_TRY(check.rank_is_between({kGradOut, kInput}, 2, kMaxRank));
    const TensorView& input = check.tensor(kInput);
    const int64_t* channels = &input.shape[1];
    if (*channels == 0) {
        return check.invalid(
            kInput, "axis 1, the channels, must not be empty, got shape " + shape_text(input));
    }
    const char* meaning = "one value per channel";
    ASCEND_GRAD_TRY(check.shape_is(outputs, 1, channels, meaning));
    ASCEND_GRAD_TRY(check.shape_equals(kGradOut, kInput));
    ASCEND_GRAD_TRY(check.shape_is(Tensors{kMean, kInvstd} | weight, 1, channels, meaning));
    return check.memory_and_product(required | weight | outputs);
}

}  // namespace ascend_grad
