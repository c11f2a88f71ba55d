// Calls that are cut into panels (core/panels.h).
#include <algorithm>
#include <numeric>

#include "core/cache_line.h"
#include "core/integers.h"
#include "core/streaming.h"
#include "ops/avg_pool2d_backward/op.h"

namespace ascend_grad {

using Op = AvgPool2dBackward;

namespace {

// Of the first `rank` axes but one: along which elements lie nearest to each other; -1 without any.
int nearest_of(const TensorView& view, int rank, int but = -1) {
    return nearest_axis(
        rank, [&](int i) { return view.shape[i]; }, [&](int i) { return view.strides[i]; },
        but < 0 ? 0u : 1u << but);
}

// Whether no traversal reads and writes whole cache lines: results lie nearest along columns of a
// plane, or the gradient's neighbours are neither along rows nor those of the results; or rows are
// short and far apart (measured). Small planes that are transposed had better stay so, and what is
// gathered not be copied twice.
bool splits_lines(const Op::Args& args, const Op::Plan& plan) {
    constexpr int64_t kLongRow = 1024, kSmallPlane = 512;  // bytes
    if (plan.height.windows * plan.width.windows == 0 || plan.gathers ||
        plan.traversal == Op::Traversal::kFill || plan.traversal == Op::Traversal::kPickedPlanes)
        return false;
    const TensorView& grad = *args.tensors[Op::kGradOutput];
    const TensorView& grad_input = *args.tensors[Op::kGradInput];
    const int rank = grad_input.rank, height = rank - 2, width = rank - 1;
    const int of_grad = nearest_of(grad, rank), of_result = nearest_of(grad_input, rank);
    if (of_grad < 0 || of_result < 0) return false;
    if (of_result == height) return true;
    const int64_t size = data_type_size(plan.dtype);
    if (plan.transposes && plan.height.extent * plan.width.extent * size <= kSmallPlane)
        return false;
    if (of_result != width) return of_grad != of_result;
    if (of_grad != width) return of_grad != nearest_of(grad_input, height);
    const int64_t row = plan.width.extent * size;
    return plan.height.extent > 1 && grad_input.strides[height] != row && row < kLongRow;
}

// Whether panels pay if the result stays in place and threads are as many (measured): of gathered
// planes that are neighbours in the result alone, or of few that are in both tensors where others
// follow them in the result alone.
bool gains_in_place(const Op::Args& args, const Op::Plan& plan) {
    constexpr int64_t kFewestPlanes = 32, kShortBytes = 128;
    const TensorView& grad = *args.tensors[Op::kGradOutput];
    const TensorView& grad_input = *args.tensors[Op::kGradInput];
    const int rank = grad_input.rank, height = rank - 2;
    const int of_grad = nearest_of(grad, rank), of_result = nearest_of(grad_input, rank);
    if (of_grad < 0 || of_result < 0 || of_result >= height) return false;
    if (plan.gathers) return of_grad != of_result && grad_input.shape[of_result] >= kFewestPlanes;
    const int next = nearest_of(grad_input, rank, of_result);
    const auto size = data_type_size(plan.dtype);
    return plan.traversal == Op::Traversal::kAlongChannels && plan.is_direct() &&
           of_grad == of_result && grad_input.shape[of_result] * size <= kShortBytes && next >= 0 &&
           next < height && next != nearest_of(grad, rank, of_result);
}

// Whether pixels of the result are so few channels that they had better be parted: these are
// copied fast.
bool has_few_channels(const TensorView& grad_input) {
    const int rank = grad_input.rank, nearest = nearest_of(grad_input, rank);
    return nearest >= 0 && nearest < rank - 2 && grad_input.shape[nearest] <= kFewInterleaved;
}

// The order of a panel's axes: planes, rows and columns, and behind them the planes that are nearer
// in the result.
void order_axes(const TensorView& grad_input, int* order) {
    const int rank = grad_input.rank, height = rank - 2;
    const auto stride = [&](int axis) { return magnitude(grad_input.strides[axis]); };
    const auto is_farther = [&](int a, int b) { return stride(a) > stride(b); };
    std::iota(order, order + rank, 0);
    std::stable_sort(order, order + height, is_farther);
    const int nearest = nearest_of(grad_input, rank);
    if (nearest < 0 || nearest >= height || has_few_channels(grad_input)) return;
    int* const nearer = std::find_if(order, order + height, [&](int axis) {
        return stride(axis) < std::min(stride(height), stride(rank - 1));
    });
    std::rotate(nearer, order + height, order + rank);
}

// The call's axes in that order; the second operand is the result.
void list_axes(const TensorView* const* tensors, const int* order, PanelAxis* axes) {
    const int rank = tensors[1]->rank;
    for (int i = 0; i < rank; ++i) {
        axes[i].is_whole = order[i] >= rank - 2;
        axes[i].unit = 1;
        for (int k = 0; k < 2; ++k) {
            axes[i].extent[k] = tensors[k]->shape[order[i]];
            axes[i].stride[k] = tensors[k]->strides[order[i]];
        }
    }
}

// Whether each panel of the result begins equally far from a cache line.
bool are_placed_alike(const Panels& panels) {
    bool result = true;
    for (int i = 0; i < panels.axes; ++i) {
        const PanelAxis& axis = panels.axis[i];
        const bool is_cut = !axis.is_whole && panels.box[i] < axis.extent[1];
        result = result && (!is_cut || are_whole_lines({panels.box[i] * axis.stride[1]}));
    }
    return result;
}

// Whether vectors run along elements that are neighbours in the result.
bool writes_neighbours(const Op::Plan& panel) {
    const int64_t size = data_type_size(panel.dtype);
    return panel.traversal == Op::Traversal::kAlongChannels
               ? panel.channel_stride[1] == size
               : panel.width_stride[1] == panel.pixel * size;
}

// Plans the call on such panels. False where the result stays in place and no traversal suits that.
bool plan_panel(const Op::Args& args, const Panels& panels, const int* order, Op::Plan& panel) {
    TensorView views[2];
    for (int k = 0; k < 2; ++k) {
        const TensorView dense = panels.view(k, args.tensors[Op::kGradInput]->dtype);
        views[k] = dense;
        for (int i = 0; i < panels.axes; ++i) {
            views[k].shape[order[i]] = dense.shape[i];
            views[k].strides[order[i]] = panels.stride(i, k);
        }
    }
    const bool in_place = !panels.copied[1];
    if (in_place) views[1].data = args.tensors[Op::kGradInput]->data;
    Op::Args panel_args = args;
    panel_args.tensors[Op::kGradOutput] = &views[0];
    panel_args.tensors[Op::kGradInput] = &views[1];
    panel = Op::direct_plan(panel_args);
    panel.streaming_fits = panel.streaming_fits && in_place && are_placed_alike(panels);
    return !in_place ||
           (panel.is_direct() && writes_neighbours(panel) && !splits_lines(panel_args, panel));
}

// Makes it a plan of panels, if the call can be cut into some. The result is copied, or stays where
// it is, unless its channels are few; then panels of the gradient lie as it does.
bool cut(const Op::Args& args, Op::Plan& plan, bool in_place, bool are_large = false) {
    // Of the result, a run where it lies: shorter ones are copied faster; larger panels pay where
    // these are not enough (measured).
    constexpr int64_t kFewestBytes = 256, kEnoughBytes = 1024;
    const TensorView* tensors[] = {args.tensors[Op::kGradOutput], args.tensors[Op::kGradInput]};
    if (in_place && has_few_channels(*tensors[1])) return false;
    int order[kMaxRank];
    order_axes(*tensors[1], order);
    PanelAxis axes[kMaxRank];
    list_axes(tensors, order, axes);
    const DataType dtypes[] = {plan.dtype, plan.dtype};
    Panels panels{};
    panels.copied[1] = !in_place;
    panels.are_equal = in_place;
    panels.are_large = are_large;
    if (!cut_into_panels(panels, axes, tensors[1]->rank, dtypes, 2, true, tensors[1]->data,
                         plan.bytes))
        return false;
    const int64_t run = panels.run(1);
    if (in_place && !are_large && run < kEnoughBytes && cut(args, plan, true, true)) return true;
    if (in_place && run < (are_large ? kEnoughBytes : kFewestBytes)) return false;
    Op::Plan panel;
    if (!plan_panel(args, panels, order, panel)) return false;
    use_panels(plan, panel, panels);
    return true;
}

}  // namespace

Op::Plan Op::plan(const Args& args) {
    Plan plan = direct_plan(args);
    if (plan.is_empty) return plan;
    if (splits_lines(args, plan)) {
        if (!cut(args, plan, true)) cut(args, plan, false);
    } else if (gains_in_place(args, plan)) {
        Plan of_panels = plan;
        if (cut(args, of_panels, true) && of_panels.panels.keeps_threads(plan)) return of_panels;
    }
    return plan;
}

}  // namespace ascend_grad
