#include "ops/softmax_backward/tiling.h"

#include <algorithm>

#include "device/planner.h"
#include "ops/softmax_backward/op.h"
#include "ops/softmax_backward/tiler.h"

namespace ascend_grad {

using Op = SoftmaxBackward;
using device::AxisOrder;

namespace softmax_backward {
namespace {

// The order in which the most bytes lie densely.
AxisOrder best_order(const Op::Args& args) {
    AxisOrder best = device::natural_order(args.tensors[Op::kGradOutput]->rank);
    int64_t most = -1;
    for (int candidate : {-1, 0, 1, 2}) {
        const AxisOrder order =
            candidate < 0 ? best : device::memory_order(*args.tensors[candidate]);
        int64_t dense = 0;
        for (const TensorView* view : {args.tensors[0], args.tensors[1], args.tensors[2]}) {
            if (is_dense(*view, order)) dense += data_type_size(view->dtype);
        }
        if (dense > most) {
            most = dense;
            best = order;
        }
    }
    return best;
}

Shape shape_in(const Op::Args& args, const AxisOrder& order, int dim) {
    const TensorView& grad = *args.tensors[Op::kGradOutput];
    Shape shape{1, 1, 1, 0, 0};
    shape.in_size = data_type_size(grad.dtype);
    const DataType out = args.tensors[Op::kOut]->dtype;
    shape.out_size = out == DataType::kFloat16 || out == DataType::kBFloat16 ? 2 : 4;
    bool inside = false;
    for (int i = 0; i < order.count; ++i) {
        const int axis = order.axis[i];
        if (axis == dim) {
            shape.length = grad.shape[axis];
            inside = true;
        } else {
            (inside ? shape.inner : shape.outer) *= grad.shape[axis];
        }
    }
    if (shape.length == 1) {  // elementwise
        shape.inner *= shape.outer;
        shape.outer = 1;
    }
    return shape;
}

const char* kernel_name(DataType in, DataType out) {
    static constexpr const char* kNames[kKernelDtypes][kKernelDtypes] = {
        {"softmax_backward_float32_float32", "softmax_backward_float32_float16",
         "softmax_backward_float32_bfloat16"},
        {"softmax_backward_float16_float32", "softmax_backward_float16_float16",
         "softmax_backward_float16_bfloat16"},
        {"softmax_backward_bfloat16_float32", "softmax_backward_bfloat16_float16",
         "softmax_backward_bfloat16_bfloat16"}};
    return kNames[kernel_index(in)][kernel_index(out)];
}

}  // namespace
}  // namespace softmax_backward

Status Op::device_plan(const Args& args, const device::Product& product, device::Plan& plan) {
    using namespace softmax_backward;
    plan = {};
    const TensorView& grad = *args.tensors[kGradOutput];
    if (args.is_empty()) return {};
    const int dim = args.axis();
    AxisOrder order = best_order(args);
    SoftmaxBackwardTiling tiling;
    uint32_t blocks = 1;
    if (!tile(shape_in(args, order, dim), product, tiling, blocks)) {
        // Rows that lie in one piece, which the planner's copies provide, always work.
        order = device::natural_order(grad.rank);
        std::rotate(order.axis + dim, order.axis + dim + 1, order.axis + grad.rank);
        tile(shape_in(args, order, dim), product, tiling, blocks);
    }
    device::Planner planner(info(), args, product, plan);
    device::Pointer workspace;
    if (tiling.parts > 1) {
        const uint64_t bytes = workspace_bytes(tiling, product, blocks);
        workspace =
            product.has_core_barrier ? planner.reserve(bytes) : planner.reserve_zeroed(bytes);
    }
    const DataType out = args.tensors[kOut]->dtype == DataType::kFloat64
                             ? DataType::kFloat32
                             : args.tensors[kOut]->dtype;
    const device::Pointer pointers[] = {planner.input(kGradOutput, grad.dtype, order),
                                        planner.input(kOutput, grad.dtype, order),
                                        planner.output(kOut, out, order)};
    planner.launch(kernel_name(grad.dtype, out), blocks,
                   {pointers[0], pointers[1], pointers[2], workspace}, tiling);
    return planner.finish();
}

}  // namespace ascend_grad
