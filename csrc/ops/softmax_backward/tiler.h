// Choices of tiling: from the geometry of a call to what every core does.
#pragma once

#include "core/integers.h"
#include "device/costs.h"
#include "device/plan.h"
#include "ops/softmax_backward/tiling.h"

namespace ascend_grad::softmax_backward {

// Dense arrays [outer][length][inner], sums over length; sizes of an element in bytes.
struct Shape {
    int64_t outer, length, inner;
    int64_t in_size, out_size;

    int64_t numel() const { return outer * length * inner; }
    int64_t least_size() const { return in_size < out_size ? in_size : out_size; }
    // UB bytes per element of a tile: buffers of both inputs, two of the result, and floats.
    int64_t chunk_bytes(int64_t input_buffers) const {
        return input_buffers * 2 * in_size + 2 * out_size + (in_size == 4 ? 4 : 8);
    }
};

// Of the unified buffer, whatever the traversal: to store what begins or ends inside a block.
inline int64_t tail_bytes(const device::Product& product) {
    return product.has_byte_copies ? 32 + 2 * 64 : 3 * 16 * 32;
}

// Cores that together use the whole bandwidth of global memory.
int64_t saturating_blocks(const device::Product& product);
// Blocks that have enough to do.
int64_t most_blocks(const Shape& shape, const device::Product& product);
// The number of blocks, up to `most`, that get through equal groups soonest.
int64_t best_blocks(int64_t groups, int64_t most, const device::Product& product);

// False where the product cannot walk the arrays as they lie.
bool tile(const Shape& shape, const device::Product& product, SoftmaxBackwardTiling& tiling,
          uint32_t& blocks);
bool tile_strips(const Shape& shape, const device::Product& product, SoftmaxBackwardTiling& tiling,
                 uint32_t& blocks);
// For the partial sums of teams, with what a barrier in software needs before them.
uint64_t workspace_bytes(const SoftmaxBackwardTiling& tiling, const device::Product& product,
                         uint32_t blocks);

}  // namespace ascend_grad::softmax_backward
