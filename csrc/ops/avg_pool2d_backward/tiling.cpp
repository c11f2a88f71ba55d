#include "ops/avg_pool2d_backward/tiling.h"

#include <algorithm>
#include <cmath>

#include "device/planner.h"
#include "ops/avg_pool2d_backward/op.h"
#include "ops/avg_pool2d_backward/tiler.h"

namespace ascend_grad {

using Op = AvgPool2dBackward;
using Tiling = AvgPool2dBackwardTiling;

namespace {

static_assert(static_cast<uint32_t>(Op::Mode::kFloat32) == kPoolFloat32 &&
              static_cast<uint32_t>(Op::Mode::kFloat16) == kPoolFloat16 &&
              static_cast<uint32_t>(Op::Mode::kHf32) == kPoolHf32);

// What a quotient may be computed with instead of a division: for float32 only where the bits are
// the same.
float factor_of(float divisor, bool narrow) {
    if (divisor == 0.0f) return 0.0f;
    int exponent;
    const bool is_power = std::fabs(std::frexp(divisor, &exponent)) == 0.5f;
    return is_power || narrow ? 1.0f / divisor : 0.0f;
}

// Whether rows of windows do not overlap and leave no rows, so that those of each may be a plane.
bool splits_planes(const PoolAxis& height, int64_t rows) {
    return height.pad == 0 && height.kernel <= height.stride && height.windows == rows &&
           rows * height.stride == height.extent;
}

// Kernels take strides and padding of 31 bits. One window's stride says nothing, nor does what a
// window has beyond the padding.
bool fit(PoolAxis& axis) {
    constexpr int64_t kMost = INT32_MAX;
    if (axis.pad > kMost) return false;
    if (axis.windows <= 1) axis.stride = std::min(axis.stride, kMost);
    axis.kernel = std::min(axis.kernel, axis.extent + 2 * axis.pad);
    return axis.stride <= kMost;
}

struct Tiled {
    Tiling tiling;
    uint32_t blocks;
    double cycles;  // estimated
};

Tiled tile(const Op::Plan& plan, Tiling t, int64_t element_bytes, const device::Product& product) {
    PoolTiler tiler(plan, t, element_bytes, product);
    const double cycles = tiler.choose();
    return {t, tiler.blocks(), cycles};
}

}  // namespace

Status Op::device_plan(const Args& args, const device::Product& product, device::Plan& device) {
    Plan plan = Op::plan(args);
    if (plan.is_empty) return {};
    if (!fit(plan.height) || !fit(plan.width)) {
        return {StatusCode::kInnerFindKernelError, info().name.in(args.interface), "",
                "kernels of Ascend devices take strides and padding of at most 2^31 - 1; device "
                "\"cpu\" takes any"};
    }
    const TensorView& grad = *args.tensors[kGradOutput];
    const TensorView& grad_input = *args.tensors[kGradInput];
    const int rank = grad_input.rank;

    Tiling t{};
    t.planes = grad_input.numel / (plan.height.extent * plan.width.extent);
    t.height = plan.height.extent;
    t.width = plan.width.extent;
    t.grad_height = grad.shape[rank - 2];
    t.grad_width = grad.shape[rank - 1];
    t.windows_height = plan.height.windows;
    t.windows_width = plan.width.windows;
    t.kernel_height = plan.height.kernel;
    t.kernel_width = plan.width.kernel;
    t.stride_height = plan.height.stride;
    t.stride_width = plan.width.stride;
    t.pad_height = plan.height.pad;
    t.pad_width = plan.width.pad;
    t.count_include_pad = plan.count_include_pad;
    t.mode = static_cast<uint32_t>(plan.mode);
    t.divisor = plan.divisor;
    const auto element_bytes = data_type_size(plan.dtype);
    t.factor = factor_of(plan.divisor, element_bytes == 2);

    Tiled best = tile(plan, t, element_bytes, product);
    if (splits_planes(plan.height, t.grad_height)) {
        // Cores share many small planes more evenly, and copies take many at once as one stretch.
        t.planes *= t.grad_height;
        plan.height.extent = t.height = t.stride_height;
        plan.height.windows = t.windows_height = t.grad_height = 1;
        const Tiled split = tile(plan, t, element_bytes, product);
        constexpr double kEstimate = 1.09;  // which counts too much for those
        if (split.cycles < kEstimate * best.cycles) best = split;
    }
    device::Planner planner(info(), args, product, device);
    const device::AxisOrder order = device::natural_order(rank);
    const device::Pointer from = planner.input(kGradOutput, plan.dtype, order);
    const device::Pointer to = planner.output(kGradInput, plan.dtype, order);
    const char* const names[] = {"avg_pool2d_backward_float32", "avg_pool2d_backward_float16",
                                 "avg_pool2d_backward_bfloat16"};
    planner.launch(names[kernel_index(plan.dtype)], best.blocks, {from, to}, best.tiling);
    return planner.finish();
}

}  // namespace ascend_grad
