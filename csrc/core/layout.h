// Loops over the common dimensions of several tensors, simplified.
#pragma once

#include <cstdint>

#include "core/integers.h"
#include "core/tensor.h"

namespace ascend_grad {

// Of a tile that is copied to where it is dense, at most, so that it stays near.
inline constexpr int64_t kStagedElements = 8192;

// Up to kMaxRank nested loops, outermost first, that walk `operands` tensors; strides in bytes.
struct Loops {
    static constexpr int kMaxOperands = 3;
    int32_t count = 0;
    int32_t operands = 0;
    int64_t extent[kMaxRank];  // set up to `count`, as the strides are; stride[0] always
    int64_t stride[kMaxRank][kMaxOperands];

    // Offsets need these even without a loop; setting all would take a tenth of a small call's
    // time. Inlined even without optimisation: instruction set levels must not share it.
    __attribute__((always_inline)) Loops() {
        for (int64_t& first : stride[0]) first = 0;
    }
    int64_t iterations() const;
    void append(int64_t size, const int64_t* strides);
    // Drops loops of one iteration and joins neighbours that one stride can walk; the order of
    // elements stays.
    void merge();
    // Puts loops with larger strides of the last operand outside. Only for loops whose order is
    // free.
    void sort();
    // Byte offsets of the iteration with that number, one per operand, without a division where
    // there is one loop. Inlined for the same reason as the constructor.
    __attribute__((always_inline)) void offsets(int64_t iteration, int64_t* offset) const {
        for (int k = 0; k < operands; ++k) offset[k] = 0;
        for (int d = count - 1; d > 0; --d) {
            const int64_t index = iteration % extent[d];
            iteration /= extent[d];
            for (int k = 0; k < operands; ++k) offset[k] += index * stride[d][k];
        }
        for (int k = 0; k < operands; ++k) offset[k] += iteration * stride[0][k];
    }
    // The same of one operand.
    __attribute__((always_inline)) int64_t offset(int64_t iteration, int operand) const {
        int64_t result = 0;
        for (int d = count - 1; d > 0; --d) {
            result += iteration % extent[d] * stride[d][operand];
            iteration /= extent[d];
        }
        return result + iteration * stride[0][operand];
    }
};

// The one of `count` axes along which elements lie nearest to each other, but for axes of one
// element and those whose bits `but` has; -1 where none is left. Of functions of an axis.
template <class Extent, class Stride>
int nearest_axis(int count, const Extent& extent, const Stride& stride, uint32_t but = 0) {
    int nearest = -1;
    for (int i = 0; i < count; ++i) {
        if ((but >> i & 1u) != 0 || extent(i) == 1 || stride(i) == 0) continue;
        if (nearest < 0 || magnitude(stride(i)) < magnitude(stride(nearest))) nearest = i;
    }
    return nearest;
}

// Elements of a part of an array that follow each other in memory, along one nearest_axis() after
// the other; sets `next` to the axis that would lengthen the run, -1 where it has all. `part`: what
// the part has of an axis.
template <class Part, class Extent, class Stride>
int64_t run_of_part(int count, const Part& part, const Extent& extent, const Stride& stride,
                    int& next) {
    int64_t run = 1;
    uint32_t is_in_run = 0;
    while ((next = nearest_axis(count, extent, stride, is_in_run)) >= 0) {
        run *= part(next);
        if (part(next) < extent(next)) break;
        is_in_run |= 1u << next;
    }
    return run;
}

}  // namespace ascend_grad
