#include <algorithm>
#include <utility>

#include "core/integers.h"
#include "core/processor.h"
#include "core/streaming.h"
#include "ops/avg_pool2d_backward/planning.h"

namespace ascend_grad {

using Op = AvgPool2dBackward;

namespace {

PoolAxis pool_axis(int64_t extent, int64_t windows, int64_t kernel, int64_t stride, int64_t pad) {
    // Windows that start beyond the input add nothing, which also bounds i * stride. Only one
    // window exists where the stride is longer than all before the input's end, so a smaller one
    // serves as well.
    const int64_t reaching = (extent + pad - 1) / stride + 1;
    return PoolAxis{extent, kernel, std::min(stride, extent + pad), pad,
                    std::min(windows, reaching)};
}

Op::Mode mode_of(const Op::Args& args) {
    if (args.tensors[Op::kGradOutput]->dtype != DataType::kFloat32 || args.cube_math_type == 0) {
        return Op::Mode::kFloat32;
    }
    if (args.cube_math_type == 2 || !soc_info(args.soc).has_float32_cube) return Op::Mode::kFloat16;
    return Op::Mode::kHf32;
}

// Whether every window counts `kernel` elements, or the same number of elements of the input.
bool counts_are_constant(const PoolAxis& axis, bool count_include_pad, int64_t& count) {
    const int64_t last = axis.windows - 1;
    count = axis.counted(0, count_include_pad);
    // Counts rise from the first window and fall towards the last.
    return axis.counted(last, count_include_pad) == count &&
           axis.counted(last / 2, count_include_pad) == count;
}

float constant_divisor(const Op::Plan& plan, int64_t divisor_override) {
    if (divisor_override != 0) return static_cast<float>(divisor_override);
    int64_t rows, columns;
    const bool constant = counts_are_constant(plan.height, plan.count_include_pad, rows) &&
                          counts_are_constant(plan.width, plan.count_include_pad, columns);
    return constant ? static_cast<float>(rows) * static_cast<float>(columns) : 0.0f;
}

// Puts planes in the order of grad_input. But where its planes are rows that follow each other,
// those that are neighbours in grad_output come inside if they are many (measured): vectors run
// along them.
void order_planes(Op::Plan& plan, int64_t size) {
    constexpr int64_t kFewest = 32;
    Loops& planes = plan.planes;
    planes.sort();
    if (planes.count == 2 && planes.stride[0][0] == size && planes.extent[0] >= kFewest &&
        plan.width_stride[1] == size &&
        magnitude(plan.height_stride[1]) < magnitude(planes.stride[1][1])) {
        std::swap(planes.extent[0], planes.extent[1]);
        std::swap(planes.stride[0], planes.stride[1]);
    }
}

}  // namespace

int64_t pool_output_extent(int64_t extent, int64_t kernel, int64_t stride, int64_t pad,
                           bool ceil_mode) {
    // pad is at most kernel / 2, so nothing overflows when the two are subtracted first.
    const int64_t span = extent + (pad - (kernel - pad));
    if (span < 0) return ceil_mode && -span < stride && extent + pad > 0 ? 1 : 0;
    int64_t count = (ceil_mode && span % stride != 0 ? span / stride + 1 : span / stride) + 1;
    if (ceil_mode && count - 1 > (extent + pad - 1) / stride) --count;
    return count;
}

Op::Plan Op::direct_plan(const Args& args) {
    const TensorView& grad = *args.tensors[kGradOutput];
    const TensorView& grad_input = *args.tensors[kGradInput];
    const int planes = grad_input.rank - 2;
    const auto axis = [&](int i) {
        return pool_axis(grad_input.shape[planes + i], grad.shape[planes + i],
                         args.kernel_size->at(i), args.strides().at(i), args.padding->at(i));
    };
    Plan plan{};
    plan.dtype = grad_input.dtype;
    if (grad_input.is_empty()) {
        plan.is_empty = true;
        return plan;
    }
    plan.mode = mode_of(args);
    plan.count_include_pad = args.count_include_pad;
    plan.height = axis(0);
    plan.width = axis(1);
    if (grad.is_empty()) plan.height.windows = plan.width.windows = 0;
    plan.planes.operands = 2;
    const TensorView* views[] = {&grad, &grad_input};
    for (int k = 0; k < 2; ++k) {
        plan.height_stride[k] = views[k]->strides[planes];
        plan.width_stride[k] = views[k]->strides[planes + 1];
    }
    for (int i = 0; i < planes; ++i) {
        const int64_t plane_strides[] = {grad.strides[i], grad_input.strides[i]};
        if (grad_input.shape[i] != 1) plan.planes.append(grad_input.shape[i], plane_strides);
    }
    const int64_t size = data_type_size(plan.dtype);
    order_planes(plan, size);
    plan.planes.merge();
    plan.divisor = plan.height.windows * plan.width.windows == 0
                       ? 1.0f
                       : constant_divisor(plan, args.divisor_override);
    plan.plane_count = plan.planes.iterations();
    plan.pixel = 1;
    int64_t elements;
    if (__builtin_add_overflow(grad.numel, grad_input.numel, &elements)) elements = INT64_MAX;
    plan.bytes = saturated_bytes(elements, size);
    pool_planning::choose_traversal(plan);
    pool_planning::cut_into_tasks(plan, grad_input);
    plan.prefetch = processor().far_along_memory ? 6144 : 2048;  // measured
    plan.divides_by_row = processor().divides_by_row;
    return plan;
}

}  // namespace ascend_grad
