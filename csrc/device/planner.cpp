#include "device/planner.h"

#include <algorithm>

#include "device/costs.h"
#include "device/strided_copy_plan.h"

namespace ascend_grad::device {
namespace {

constexpr uint64_t kAlignment = 512;  // of workspace areas: what GM transfers like best
// Bytes behind an area that products without byte copies load.
constexpr uint64_t kReadAhead = kBlockBytes - 1;

uint64_t rounded_up(uint64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// A contiguous array of the view's shape, whose axes follow each other in that order.
TensorView packed(const TensorView& view, DataType dtype, const AxisOrder& order) {
    TensorView result = view;
    result.dtype = dtype;
    auto stride = data_type_size(dtype);
    for (int i = order.count - 1; i >= 0; --i) {
        result.strides[order.axis[i]] = stride;
        stride *= view.shape[order.axis[i]];
    }
    return result;
}

}  // namespace

std::string summary_of(const Plan& plan) {
    std::string text = "launches ";
    for (int i = 0; i < plan.launch_count; ++i) {
        const Launch& launch = plan.launches[i];
        text.append(launch.kernel).append(" on ").append(std::to_string(launch.blocks));
        text.append(launch.blocks == 1 ? " core, " : " cores, ");
    }
    return text + "workspace " + std::to_string(plan.workspace_size) + " bytes";
}

AxisOrder natural_order(int rank) {
    AxisOrder order;
    order.count = rank;
    for (int i = 0; i < rank; ++i) order.axis[i] = i;
    return order;
}

AxisOrder memory_order(const TensorView& view) {
    AxisOrder order = natural_order(view.rank);
    std::stable_sort(order.axis, order.axis + order.count,
                     [&](int a, int b) { return view.strides[a] > view.strides[b]; });
    return is_dense(view, order) ? order : natural_order(view.rank);
}

bool is_dense(const TensorView& view, const AxisOrder& order) {
    auto stride = data_type_size(view.dtype);
    for (int i = order.count - 1; i >= 0; --i) {
        const int axis = order.axis[i];
        if (view.shape[axis] == 1) continue;
        if (view.strides[axis] != stride) return false;
        stride *= view.shape[axis];
    }
    return true;
}

Pointer Planner::reserve(uint64_t bytes) {
    const Pointer area{Pointer::kWorkspace, static_cast<int64_t>(plan_.workspace_size)};
    plan_.workspace_size += rounded_up(bytes + kReadAhead);
    return area;
}

Pointer Planner::reserve_zeroed(uint64_t bytes) {
    const Pointer area = reserve(bytes);
    plan_.zeroed_bytes = plan_.workspace_size;
    return area;
}

Pointer Planner::input(int tensor, DataType dtype, const AxisOrder& order,
                       const TensorView* shape) {
    const TensorView& given = *args_.tensors[tensor];
    const TensorView view = shape != nullptr ? broadcast(given, *shape) : given;
    const Pointer here{tensor, 0};
    if (view.dtype == dtype && is_dense(view, order) && !may_be_overwritten(given, order))
        return here;
    const TensorView target = packed(view, dtype, order);
    const Pointer area = reserve(static_cast<uint64_t>(view.numel * data_type_size(dtype)));
    add_copy(here, view, area, target);
    return area;
}

bool Planner::may_be_overwritten(const TensorView& input, const AxisOrder& order) const {
    if (!args_.is_on_device || product_.has_byte_copies) return false;
    bool is_replaced = false;
    for (int i = 0; i < info_.tensor_count; ++i) {
        const bool may_replace = info_.tensors[i].role == Role::kElementwiseOutput;
        is_replaced = is_replaced || (may_replace && args_.tensors[i] != nullptr &&
                                      is_same_view(input, *args_.tensors[i]));
    }
    if (!is_replaced) return false;
    int64_t row = 1;  // elements next to each other
    for (int i = order.count - 1; i >= 0 && row == 1; --i) row = input.shape[order.axis[i]];
    return row * data_type_size(input.dtype) % kBlockBytes != 0;
}

Pointer Planner::output(int tensor, DataType dtype, const AxisOrder& order) {
    const TensorView& view = *args_.tensors[tensor];
    if (view.dtype == dtype && is_dense(view, order)) return {tensor, 0};
    const Pointer area = reserve(static_cast<uint64_t>(view.numel * data_type_size(dtype)));
    if (unfinished_count_ < kMaxOutputs)
        unfinished_[unfinished_count_++] = {tensor, area, packed(view, dtype, order)};
    return area;
}

Status Planner::finish() {
    for (int i = 0; i < unfinished_count_; ++i) {
        const Unfinished& output = unfinished_[i];
        add_copy(output.area, output.packed, {output.tensor, 0}, *args_.tensors[output.tensor]);
    }
    return std::move(status_);
}

void Planner::add_copy(Pointer from, const TensorView& source, Pointer to,
                       const TensorView& target) {
    const char* kernel = strided_copy_kernel(source.dtype, target.dtype);
    if (kernel == nullptr) {
        const int tensor = to.memory == Pointer::kWorkspace ? from.memory : to.memory;
        status_ = Status{StatusCode::kInnerFindKernelError, info_.name.in(args_.interface),
                         info_.tensors[tensor].name.in(args_.interface),
                         std::string("kernels of Ascend devices have no ") +
                             data_type_name(target.dtype) + "; use float32, or device \"cpu\""};
        return;
    }
    uint32_t blocks = 0;
    const StridedCopyTiling tiling =
        tile_strided_copy(source, target, to.memory == Pointer::kWorkspace, product_, blocks);
    launch(kernel, blocks, {from, to}, tiling);
}

Launch& Planner::add_launch(const char* kernel, uint32_t blocks,
                            std::initializer_list<Pointer> pointers) {
    Launch& launch = plan_.launches[plan_.launch_count++];
    launch.kernel = kernel;
    launch.blocks = blocks;
    launch.pointer_count = 0;
    for (const Pointer& pointer : pointers) launch.pointers[launch.pointer_count++] = pointer;
    return launch;
}

}  // namespace ascend_grad::device
