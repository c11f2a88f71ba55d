#include "device/channel_sum_tiling.h"
#include "ops/prelu_backward/op.h"

namespace ascend_grad {

using Op = PreluBackward;

Status Op::device_plan(const Args& args, const device::Product& product, device::Plan& plan) {
    const TensorView& self = *args.tensors[kSelf];
    const TensorView& weight = *args.tensors[kWeight];
    const TensorView& grad_weight = *args.tensors[kGradWeight];
    if (grad_weight.is_empty()) return {};  // no channels, so no elements
    device::Planner planner(info(), args, product, plan);
    device::AxisOrder order = device::memory_order(self);
    if (!device::is_dense(self, order)) order = device::memory_order(*args.tensors[kGradInput]);
    const bool is_float = self.dtype == DataType::kFloat32;
    const auto bytes = static_cast<uint32_t>(data_type_size(self.dtype));
    const device::ChannelSumKernel kernel{bytes, bytes, 1, is_float ? 1u : 2u, true};
    uint32_t cores = 0;
    const int axis = weight.numel == 1 ? -1 : 1;
    const ChannelSumTiling tiling =
        device::tile_channel_sum(device::channel_shape(self, order, axis), kernel, product, cores);
    const device::Pointer workspace = device::reserve_channel_sum(planner, tiling, kernel);
    device::Pointer grad_output, input, grad_input;
    if (!self.is_empty()) {
        grad_output = planner.input(kGradOutput, self.dtype, order, &self);
        input = planner.input(kSelf, self.dtype, order);
        grad_input = planner.output(kGradInput, self.dtype, order);
    }
    const device::Pointer slopes =
        planner.input(kWeight, self.dtype, device::natural_order(weight.rank));
    const device::Pointer sums =
        planner.output(kGradWeight, self.dtype, device::natural_order(grad_weight.rank));
    const char* const names[] = {"prelu_backward_float32", "prelu_backward_float16",
                                 "prelu_backward_bfloat16"};
    planner.launch(names[kernel_index(self.dtype)], cores,
                   {grad_output, input, slopes, grad_input, sums, workspace}, tiling);
    return planner.finish();
}

}  // namespace ascend_grad
