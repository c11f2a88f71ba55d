// Host side of kernels that sum over all axes but the channel's.
#pragma once

#include "core/tensor.h"
#include "device/channel_sum.h"
#include "device/plan.h"
#include "device/planner.h"

namespace ascend_grad::device {

// What such a kernel does with the elements, as kernels_ascendc/common/channel_sum.h has it.
struct ChannelSumKernel {
    uint32_t element_bytes;
    uint32_t vector_bytes;  // of an element of vectors with a value per channel
    uint32_t sums;
    uint32_t work;  // tiles of floats besides the vector's and the sums'
    bool writes;    // an output of the inputs' shape
};

// Memory as [outer][channels][inner].
struct ChannelShape {
    int64_t outer, channels, inner;
    int64_t numel() const { return outer * channels * inner; }
};

// Bytes of the inputs and of an output of their shape.
inline int64_t moved_bytes(const ChannelShape& shape, const ChannelSumKernel& kernel) {
    return shape.numel() * kernel.element_bytes * (kernel.writes ? 3 : 2);
}

// `axis`: of the channels; -1 where all elements belong to one.
ChannelShape channel_shape(const TensorView& view, const AxisOrder& order, int axis);

// Sets the number of cores.
ChannelSumTiling tile_channel_sum(const ChannelShape& shape, const ChannelSumKernel& kernel,
                                  const Product& product, uint32_t& cores);
// What such a kernel needs; only before any other request.
Pointer reserve_channel_sum(Planner& planner, const ChannelSumTiling& tiling,
                            const ChannelSumKernel& kernel);
// Of each input, by what tiles are: one to load, one to work on and, of 16 bit, one to store from;
// lanes with gaps need larger ones instead.
uint32_t input_buffers(const ChannelSumTiling& tiling, const ChannelSumKernel& kernel,
                       const Product& product);
// Bytes of unified buffer that it takes.
uint64_t buffer_bytes(const ChannelSumTiling& tiling, const ChannelSumKernel& kernel,
                      const Product& product);

}  // namespace ascend_grad::device
