#include "device/channel_sum_tiling.h"

namespace ascend_grad::device {

ChannelShape channel_shape(const TensorView& view, const AxisOrder& order, int axis) {
    ChannelShape shape{1, 1, 1};
    if (axis < 0) {
        shape.inner = view.numel;
        return shape;
    }
    bool before = true;
    for (int i = 0; i < order.count; ++i) {
        const int64_t extent = view.shape[order.axis[i]];
        if (order.axis[i] == axis) {
            shape.channels = extent;
            before = false;
        } else {
            (before ? shape.outer : shape.inner) *= extent;
        }
    }
    return shape;
}

Pointer reserve_channel_sum(Planner& planner, const ChannelSumTiling& tiling,
                            const ChannelSumKernel& kernel) {
    const auto partials = static_cast<uint64_t>(tiling.partial_pitch) * tiling.contributions *
                          kernel.sums * sizeof(float);
    if (tiling.partials == 0) return planner.reserve(partials);
    const Pointer workspace = planner.reserve_zeroed(static_cast<uint64_t>(tiling.partials));
    planner.reserve(partials);
    return workspace;
}

}  // namespace ascend_grad::device
