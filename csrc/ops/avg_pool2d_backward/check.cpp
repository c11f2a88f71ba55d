#include "core/check.h"
#include "ops/avg_pool2d_backward/op.h"

namespace ascend_grad {

using Op = AvgPool2dBackward;

namespace {

constexpr Name kKernelSize{"kernelSize", "kernel_size"};
constexpr Name kStride{"stride", "stride"};
constexpr Name kPadding{"padding", "padding"};
constexpr Name kDivisorOverride{"divisorOverride", "divisor_override"};
constexpr Name kCubeMathType{"cubeMathType", "cube_math_type"};
constexpr int64_t kMaxDivisor = 255;
constexpr int64_t kMaxKernel = int64_t{1} << 60;  // positions and counts then fit 64 bits

std::string text_of(const IntArray& array) {
    return to_string(array.values, static_cast<int>(array.size));
}

Status check_formats(const Checker& check) {
    for (int i : {Op::kGradOutput, Op::kSelf, Op::kGradInput}) {
        const TensorView& tensor = check.tensor(i);
        if (tensor.format == Format::kNCHW || tensor.format == Format::kNCL) continue;
        return check.invalid(i, std::string("format must be NCHW (4-D) or NCL (3-D), got ") +
                                    format_name(tensor.format) + " with shape " +
                                    shape_text(tensor));
    }
    for (int i : {Op::kGradOutput, Op::kGradInput}) {
        const TensorView& tensor = check.tensor(i);
        if (tensor.rank != 4 || tensor.format == Format::kNCHW) continue;
        return check.invalid(i, std::string("format of a 4-D tensor must be NCHW, got ") +
                                    format_name(tensor.format));
    }
    return check.format_equals(Op::kGradInput, Op::kSelf);
}

Status check_ranks(const Checker& check) {
    ASCEND_GRAD_TRY(check.rank_is_between({Op::kGradOutput, Op::kGradInput}, 3, 4));
    const TensorView& grad = check.tensor(Op::kGradOutput);
    const TensorView& grad_input = check.tensor(Op::kGradInput);
    if (grad.rank != grad_input.rank) {
        return check.invalid(Op::kGradOutput, std::string("rank must be that of ") +
                                                  check.name(Op::kGradInput) + ", " +
                                                  std::to_string(grad_input.rank) + ", got shape " +
                                                  shape_text(grad));
    }
    for (int i : {Op::kGradOutput, Op::kSelf, Op::kGradInput}) {
        if (check.tensor(i).defect != ViewDefect::kNegativeExtent) continue;
        return check.invalid(i,
                             "dimensions must not be negative, got " + shape_text(check.tensor(i)));
    }
    return {};
}

Status check_array(const Checker& check, const Name& name, const IntArray& array, int64_t shortest,
                   int64_t lowest) {
    if (array.size < shortest || array.size > 2) {
        return check.invalid(name, "must have " + std::to_string(shortest) + " to 2 values, got " +
                                       std::to_string(array.size));
    }
    for (int64_t i = 0; i < array.size; ++i) {
        if (array.values[i] < lowest) {
            return check.invalid(name, "values must be at least " + std::to_string(lowest) +
                                           ", got " + text_of(array));
        }
    }
    return {};
}

Status check_windows(const Checker& check, const Op::Args& args) {
    const IntArray& kernel = *args.kernel_size;
    const IntArray& padding = *args.padding;
    ASCEND_GRAD_TRY(check_array(check, kKernelSize, kernel, 1, 1));
    if (kernel.at(0) > kMaxKernel || kernel.at(1) > kMaxKernel) {
        return check.invalid(kKernelSize, "values must be at most " + std::to_string(kMaxKernel) +
                                              ", got " + text_of(kernel));
    }
    if (args.stride != nullptr) ASCEND_GRAD_TRY(check_array(check, kStride, *args.stride, 0, 1));
    ASCEND_GRAD_TRY(check_array(check, kPadding, padding, 1, 0));
    for (int i = 0; i < 2; ++i) {
        if (padding.at(i) <= kernel.at(i) / 2) continue;
        return check.invalid(kPadding, std::string("must be at most half of ") +
                                           check.name(kKernelSize) + " " + text_of(kernel) +
                                           ", got " + text_of(padding));
    }
    return {};
}

Status check_mode(const Checker& check, const Op::Args& args) {
    const int64_t type = args.cube_math_type;
    if (type < 0 || type > 3) {
        return check.invalid(kCubeMathType,
                             "must be 0 (KEEP_DTYPE), 1 (ALLOW_FP32_DOWN_PRECISION), 2 (USE_FP16) "
                             "or 3 (USE_HF32), got " +
                                 std::to_string(type));
    }
    const bool is_float = check.tensor(Op::kGradOutput).dtype == DataType::kFloat32;
    if (is_float && !soc_info(args.soc).has_float32_cube && (type == 0 || type == 3)) {
        return check.invalid(
            kCubeMathType,
            "must be 1 (ALLOW_FP32_DOWN_PRECISION) or 2 (USE_FP16) for float32 tensors, got " +
                std::to_string(type));
    }
    return {};
}

Status check_extents(const Checker& check, const Op::Args& args) {
    const TensorView& grad = check.tensor(Op::kGradOutput);
    const TensorView& self = check.tensor(Op::kSelf);
    const int planes = self.rank - 2;
    for (int i = 0; i < planes; ++i) {
        if (grad.shape[i] == self.shape[i]) continue;
        return check.invalid(Op::kGradOutput,
                             std::string("all but the last two dimensions must be those of ") +
                                 check.name(Op::kSelf) + ", " + shape_text(self) + ", got " +
                                 shape_text(grad));
    }
    // The C interface accepts any output extent and computes with it, as CANN does.
    if (args.interface == Interface::kC) return {};
    int64_t wanted[4];
    for (int i = 0; i < planes; ++i) wanted[i] = self.shape[i];
    for (int i = 0; i < 2; ++i) {
        wanted[planes + i] =
            pool_output_extent(self.shape[planes + i], args.kernel_size->at(i),
                               args.strides().at(i), args.padding->at(i), args.ceil_mode);
        if (wanted[planes + i] >= 1 || self.shape[planes + i] == 0) continue;
        return check.invalid(kKernelSize, "must fit " + std::string(check.name(Op::kSelf)) +
                                              " with its padding, shape " + shape_text(self) +
                                              ", got " + text_of(*args.kernel_size));
    }
    return check.shape_is({Op::kGradOutput}, self.rank, wanted, "the forward's output");
}

}  // namespace

const OperatorInfo& Op::info() {
    static const OperatorInfo info{{"aclnnAvgPool2dBackward", "avg_pool2d_backward"},
                                   soc_bit(Soc::kAscend910) | soc_bit(Soc::kAscend910B) |
                                       soc_bit(Soc::kAscend910_93) | soc_bit(Soc::kAscend310P),
                                   3,
                                   {{{"gradOutput", "grad_output"}, Role::kInput},
                                    {{"self", "input"}, Role::kDescription},
                                    {{"gradInput", "grad_input"}, Role::kOutput, kSelf}}};
    return info;
}

TensorView Op::describe_output(const Args& args, int) {
    const TensorView& self = *args.tensors[kSelf];
    TensorView view;
    view.dtype = self.dtype;
    view.format = self.format;
    set_contiguous(view, self.stored_rank(), self.shape);
    return view;
}

Status Op::check(const Args& args) {
    const Checker check(info(), args);
    const Tensors all{kGradOutput, kSelf, kGradInput};
    ASCEND_GRAD_TRY(check.not_null({kGradOutput, kSelf}));
    ASCEND_GRAD_TRY(check.not_null(kKernelSize, args.kernel_size == nullptr));
    ASCEND_GRAD_TRY(check.not_null(kPadding, args.padding == nullptr));
    ASCEND_GRAD_TRY(check.not_null({kGradInput}));
    ASCEND_GRAD_TRY(check.dtype_is_supported(all));
    ASCEND_GRAD_TRY(check.dtype_equals({kGradOutput, kGradInput}, kSelf));
    ASCEND_GRAD_TRY(check_formats(check));
    ASCEND_GRAD_TRY(check_ranks(check));
    ASCEND_GRAD_TRY(check_windows(check, args));
    ASCEND_GRAD_TRY(check_mode(check, args));
    ASCEND_GRAD_TRY(check.shape_equals(kGradInput, kSelf));
    if (args.divisor_override < -kMaxDivisor || args.divisor_override > kMaxDivisor) {
        return check.invalid(kDivisorOverride, "must be between " + std::to_string(-kMaxDivisor) +
                                                   " and " + std::to_string(kMaxDivisor) +
                                                   " (0: not overridden), got " +
                                                   std::to_string(args.divisor_override));
    }
    ASCEND_GRAD_TRY(check_extents(check, args));
    return check.memory_and_product(all);
}

}  // namespace ascend_grad
