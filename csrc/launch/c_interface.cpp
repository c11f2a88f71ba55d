// ascend_grad/device.h on the runner.
#include "ascend_grad/device.h"

#include <algorithm>
#include <memory>
#include <string>

#include "launch/device_call.h"
#include "launch/kernel_table.h"

namespace ascend_grad::launch {

Soc library_soc() {
    switch (kArch) {
        case 220:
            return Soc::kAscend910B;
        case 200:
            return Soc::kAscend310P;
        default:
            return Soc::kAscend910;
    }
}

namespace {
thread_local std::string t_message;
}  // namespace

void set_error_message(const Status& status) {
    t_message = status.ok() ? "" : status.message();
}

namespace {

template <class Args>
bool read_tensor(const AscendGradTensor& tensor, TensorView& view) {
    if (tensor.rank < 0 || (tensor.rank > 0 && tensor.shape == nullptr)) return false;
    view.dtype = static_cast<DataType>(tensor.dtype);
    const int rank = std::min(tensor.rank, kMaxRank + 1);  // a rule refuses more, which may be any
    set_shape(view, rank, tensor.shape, tensor.strides, data_type_size(view.dtype));
    set_address(view, tensor.data);
    view.format = Args::untagged(view.rank);
    return true;
}

// fill(call) sets attributes; `tensors` are in the order of the prototype.
template <class Op, size_t kCount, class Fill>
int32_t run(const AscendGradTensor* const (&tensors)[kCount], aclrtStream stream,
            const Fill& fill) {
    return guarded(Op::info().name.c, [&]() -> Status {
        DeviceCall<Op> call;
        fill(call);
        for (size_t i = 0; i < kCount; ++i)
            call.set(static_cast<int>(i), tensors[i], read_tensor<typename Op::Args>);
        const auto planned = std::make_unique<device::Call>();
        ASCEND_GRAD_TRY(call.plan(*planned));
        return run_on_device_memory(*planned, stream, nullptr);
    });
}

}  // namespace
}  // namespace ascend_grad::launch

using namespace ascend_grad;
using launch::DeviceCall;

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int32_t ascendGradBatchNormReduceBackward(
    const AscendGradTensor* gradOut, const AscendGradTensor* input, const AscendGradTensor* mean,
    const AscendGradTensor* invstd, const AscendGradTensor* weight, bool inputG, bool weightG,
    bool biasG, const AscendGradTensor* sumDy, const AscendGradTensor* sumDyXmu,
    const AscendGradTensor* gradWeight, const AscendGradTensor* gradBias, aclrtStream stream) {
    using Op = BatchNormReduceBackward;
    return launch::run<Op>(
        {gradOut, input, mean, invstd, weight, sumDy, sumDyXmu, gradWeight, gradBias}, stream,
        [&](DeviceCall<Op>& call) {
            call.args.input_g = inputG;
            call.args.weight_g = weightG;
            call.args.bias_g = biasG;
        });
}

EXPORTED int32_t ascendGradAvgPool2dBackward(const AscendGradTensor* gradOutput,
                                             const AscendGradTensor* self,
                                             const int64_t kernelSize[2], const int64_t stride[2],
                                             const int64_t padding[2], bool ceilMode,
                                             bool countIncludePad, int64_t divisorOverride,
                                             int8_t cubeMathType, const AscendGradTensor* gradInput,
                                             aclrtStream stream) {
    using Op = AvgPool2dBackward;
    const IntArray arrays[] = {{kernelSize, 2}, {stride, 2}, {padding, 2}};
    return launch::run<Op>({gradOutput, self, gradInput}, stream, [&](DeviceCall<Op>& call) {
        call.args.kernel_size = kernelSize == nullptr ? nullptr : &arrays[0];
        call.args.stride = stride == nullptr ? nullptr : &arrays[1];
        call.args.padding = padding == nullptr ? nullptr : &arrays[2];
        call.args.ceil_mode = ceilMode;
        call.args.count_include_pad = countIncludePad;
        call.args.divisor_override = divisorOverride;
        call.args.cube_math_type = cubeMathType;
    });
}

EXPORTED int32_t ascendGradPreluBackward(const AscendGradTensor* gradOutput,
                                         const AscendGradTensor* self,
                                         const AscendGradTensor* weight,
                                         const AscendGradTensor* gradInput,
                                         const AscendGradTensor* gradWeight, aclrtStream stream) {
    using Op = PreluBackward;
    return launch::run<Op>({gradOutput, self, weight, gradInput, gradWeight}, stream,
                           [](DeviceCall<Op>&) {});
}

EXPORTED int32_t ascendGradSoftmaxBackward(const AscendGradTensor* gradOutput,
                                           const AscendGradTensor* output, int64_t dim,
                                           const AscendGradTensor* out, aclrtStream stream) {
    using Op = SoftmaxBackward;
    return launch::run<Op>({gradOutput, output, out}, stream,
                           [&](DeviceCall<Op>& call) { call.args.dim = dim; });
}

EXPORTED const char* ascendGradErrorMessage(void) {
    return launch::t_message.c_str();
}
