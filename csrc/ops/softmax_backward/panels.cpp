// Calls that are cut into panels (core/panels.h).
#include <algorithm>

#include "core/cache_line.h"
#include "core/integers.h"
#include "ops/softmax_backward/op.h"

namespace ascend_grad {

using Op = SoftmaxBackward;

namespace {

// Whether some operand's lines would be read or written in parts, here and there (measured).
bool splits_lines(const Op::Plan& plan) {
    constexpr int64_t kFew = 8;
    const int inner = plan.rows.count - 1;
    if (inner == 0) return false;
    const int64_t columns = plan.rows.extent[inner];
    const auto size = [&](int k) {
        return static_cast<int64_t>(data_type_size(k == Op::kOut ? plan.out_dtype : plan.dtype));
    };
    switch (plan.traversal) {
        case Op::Traversal::kAcrossRows:
            return !plan.is_plane && columns * size(0) <= 2 * kCacheLine;
        case Op::Traversal::kAlongRows:
            for (int k = 0; k < 3; ++k) {
                const bool follow = plan.rows.stride[inner][k] == plan.length * size(k);
                if (!follow && plan.length > 1 && plan.length <= kFew) return true;
            }
            return false;
        case Op::Traversal::kStaged:
            break;
        default:
            return false;
    }
    // Its neighbours are along neither of a tile's axes; few of either kind are no reason.
    if (std::min(plan.length, columns) < kFew) return false;
    for (int k = 0; k < 3; ++k) {
        const int64_t nearest =
            std::min(magnitude(plan.stride[k]), magnitude(plan.rows.stride[inner][k]));
        for (int d = 0; d < inner; ++d) {
            const int64_t stride = magnitude(plan.rows.stride[d][k]);
            if (stride != 0 && stride < nearest && plan.rows.extent[d] >= kFew) return true;
        }
    }
    return false;
}

// Makes it a plan of panels, if the call can be cut into some: as out lies in memory.
void cut(const Op::Args& args, Op::Plan& plan) {
    PanelAxis axes[kMaxRank + 1];
    const int count = plan.rows.count + 1;
    int place = count - 1;
    while (place > 0 &&
           magnitude(plan.rows.stride[place - 1][Op::kOut]) < magnitude(plan.stride[Op::kOut]))
        --place;
    for (int i = 0; i < count; ++i) {
        PanelAxis& axis = axes[i];
        axis.is_whole = i == place;
        axis.unit = 1;
        const int d = i < place ? i : i - 1;
        for (int k = 0; k < 3; ++k) {
            axis.extent[k] = axis.is_whole ? plan.length : plan.rows.extent[d];
            axis.stride[k] = axis.is_whole ? plan.stride[k] : plan.rows.stride[d][k];
        }
    }
    Panels panels{};
    const DataType dtypes[] = {plan.dtype, plan.dtype, plan.out_dtype};
    if (!cut_into_panels(panels, axes, count, dtypes, 3, true, args.tensors[Op::kOut]->data,
                         plan.bytes))
        return;
    TensorView views[3];
    Op::Args dense_args = args;
    dense_args.dim = place;
    for (int k = 0; k < 3; ++k) {
        views[k] = panels.view(k, dtypes[k]);
        dense_args.tensors[k] = &views[k];
    }
    const Op::Plan dense = Op::direct_plan(dense_args);
    if (!dense.split) use_panels(plan, dense, panels);
}

}  // namespace

Op::Plan Op::plan(const Args& args) {
    Plan plan = direct_plan(args);
    if (!plan.is_empty && splits_lines(plan)) cut(args, plan);
    return plan;
}

}  // namespace ascend_grad
