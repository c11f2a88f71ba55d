#include "device/channel_sum_tiling.h"
#include "ops/batch_norm_reduce_backward/op.h"

namespace ascend_grad {

using Op = BatchNormReduceBackward;

Status Op::device_plan(const Args& args, const device::Product& product, device::Plan& plan) {
    const TensorView& input = *args.tensors[kInput];
    const TensorView& grad_out = *args.tensors[kGradOut];
    device::Planner planner(info(), args, product, plan);
    device::AxisOrder order = device::memory_order(input);
    if (!device::is_dense(input, order)) order = device::memory_order(grad_out);
    const bool is_float = input.dtype == DataType::kFloat32;
    const device::ChannelSumKernel kernel{static_cast<uint32_t>(data_type_size(input.dtype)),
                                          sizeof(float), 2, is_float ? 0u : 2u, false};
    uint32_t cores = 0;
    const ChannelSumTiling tiling =
        device::tile_channel_sum(device::channel_shape(input, order, 1), kernel, product, cores);
    const device::Pointer workspace = device::reserve_channel_sum(planner, tiling, kernel);
    const device::AxisOrder vector = device::natural_order(1);
    const auto data = [&](int i) {
        return input.is_empty() ? device::Pointer{} : planner.input(i, input.dtype, order);
    };
    const auto channels = [&](int i) { return planner.input(i, DataType::kFloat32, vector); };
    const auto result = [&](int i) {
        return args.wants(i) ? planner.output(i, DataType::kFloat32, vector) : device::Pointer{};
    };
    const device::Pointer first = data(kGradOut), second = data(kInput);
    const device::Pointer mean = channels(kMean), invstd = channels(kInvstd);
    const char* const names[] = {"batch_norm_reduce_backward_float32",
                                 "batch_norm_reduce_backward_float16",
                                 "batch_norm_reduce_backward_bfloat16"};
    planner.launch(names[kernel_index(input.dtype)], cores,
                   {first, second, mean, invstd, result(kSumDy), result(kSumDyXmu),
                    result(kGradWeight), result(kGradBias), workspace},
                   tiling);
    return planner.finish();
}

}  // namespace ascend_grad
