// ascend_grad/device.h on the runner.
#include "ascend_grad/device.h"

#include <algorithm>
#include <memory>
#include <string>

#include "device/product.h"
#include "launch/runner.h"
#include "ops/table.h"

namespace ascend_grad::launch {

Soc library_soc() {
    switch (ASCEND_GRAD_ARCH) {
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

TensorView view_of(const AscendGradTensor& tensor) {
    TensorView view;
    view.dtype = static_cast<DataType>(tensor.dtype);
    if (tensor.rank < 0 || tensor.rank > kMaxRank) {
        view.rank = tensor.rank;
        std::copy_n(tensor.shape, std::clamp(tensor.rank, 0, kMaxRank), view.shape);
        return view;
    }
    set_contiguous(view, tensor.rank, tensor.shape);
    const auto size = static_cast<int64_t>(data_type_size(view.dtype));
    for (int axis = 0; axis < tensor.rank; ++axis) {
        if (tensor.shape[axis] < 0) view.defect = ViewDefect::kNegativeExtent;
        if (tensor.strides != nullptr) view.strides[axis] = tensor.strides[axis] * size;
    }
    view.data = tensor.data;
    return view;
}

template <class Op>
class DeviceCall {
  public:
    typename Op::Args args;

    DeviceCall() {
        args.interface = Interface::kC;
        args.soc = library_soc();
        args.is_on_device = true;
    }
    void set(int index, const AscendGradTensor* tensor) {
        if (tensor == nullptr) return;
        views_[index] = view_of(*tensor);
        args.tensors[index] = &views_[index];
    }
    void set_format(int index, Format format) { views_[index].format = format; }
    int32_t run(aclrtStream stream) const {
        const Status status = try_run(stream);
        set_error_message(status);
        return static_cast<int32_t>(status.code());
    }

  private:
    Status try_run(aclrtStream stream) const {
        uint32_t cores = 0;
        ASCEND_GRAD_TRY(core_count(cores));
        const auto call = std::make_unique<device::Call>();
        ASCEND_GRAD_TRY(device::make_call<Op>(args, device::product_of(args.soc, cores), *call));
        return run_on_device_memory(*call, stream, nullptr);
    }

    TensorView views_[kMaxTensors];
};

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
    DeviceCall<BatchNormReduceBackward> call;
    const AscendGradTensor* const tensors[] = {gradOut, input,    mean,       invstd,  weight,
                                               sumDy,   sumDyXmu, gradWeight, gradBias};
    for (int i = 0; i < 9; ++i) call.set(i, tensors[i]);
    call.args.input_g = inputG;
    call.args.weight_g = weightG;
    call.args.bias_g = biasG;
    return call.run(stream);
}

EXPORTED int32_t ascendGradAvgPool2dBackward(const AscendGradTensor* gradOutput,
                                             const AscendGradTensor* self,
                                             const int64_t kernelSize[2], const int64_t stride[2],
                                             const int64_t padding[2], bool ceilMode,
                                             bool countIncludePad, int64_t divisorOverride,
                                             int8_t cubeMathType, const AscendGradTensor* gradInput,
                                             aclrtStream stream) {
    using Op = AvgPool2dBackward;
    DeviceCall<Op> call;
    const AscendGradTensor* const tensors[] = {gradOutput, self, gradInput};
    for (int i = 0; i < 3; ++i) {
        call.set(i, tensors[i]);
        if (tensors[i] != nullptr)
            call.set_format(i, tensors[i]->rank == 3 ? Format::kNCL : Format::kNCHW);
    }
    const IntArray arrays[] = {{kernelSize, 2}, {stride, 2}, {padding, 2}};
    call.args.kernel_size = kernelSize == nullptr ? nullptr : &arrays[0];
    call.args.stride = stride == nullptr ? nullptr : &arrays[1];
    call.args.padding = padding == nullptr ? nullptr : &arrays[2];
    call.args.ceil_mode = ceilMode;
    call.args.count_include_pad = countIncludePad;
    call.args.divisor_override = divisorOverride;
    call.args.cube_math_type = cubeMathType;
    return call.run(stream);
}

EXPORTED int32_t ascendGradPreluBackward(const AscendGradTensor* gradOutput,
                                         const AscendGradTensor* self,
                                         const AscendGradTensor* weight,
                                         const AscendGradTensor* gradInput,
                                         const AscendGradTensor* gradWeight, aclrtStream stream) {
    DeviceCall<PreluBackward> call;
    const AscendGradTensor* const tensors[] = {gradOutput, self, weight, gradInput, gradWeight};
    for (int i = 0; i < 5; ++i) call.set(i, tensors[i]);
    return call.run(stream);
}

EXPORTED int32_t ascendGradSoftmaxBackward(const AscendGradTensor* gradOutput,
                                           const AscendGradTensor* output, int64_t dim,
                                           const AscendGradTensor* out, aclrtStream stream) {
    using Op = SoftmaxBackward;
    DeviceCall<Op> call;
    call.set(Op::kGradOutput, gradOutput);
    call.set(Op::kOutput, output);
    call.set(Op::kOut, out);
    call.args.dim = dim;
    return call.run(stream);
}

EXPORTED const char* ascendGradErrorMessage(void) {
    return launch::t_message.c_str();
}
