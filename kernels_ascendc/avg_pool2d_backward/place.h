// Copies and sums of rows of lane tiles, spread out by a step: what turns the sums for every
// stride-th element into part of a row.
#pragma once

#include "common/lanes.h"
#include "ops/avg_pool2d_backward/tiling.h"

namespace kernels {

constexpr uint32_t kFloatBlocks = kLanes * sizeof(float) / kBlockBytes;  // blocks of a position
constexpr uint32_t kMaxBlockStride = 255;
constexpr uint32_t kRepeatBlocks = 8;
constexpr uint32_t kMaxPieces = 4095;  // of one copy

enum class Placing {
    kCopy,  // to = a
    kSum,   // to = a + b
    kAdd,   // to = a + b where b lies as `to` does, and may be it
};

// What place() writes: position column * step of row r from that column of a (and b), for `columns`
// columns of `rows` rows; row pitches in positions.
struct Placement {
    uint32_t columns, step;
    uint32_t rows, to_row, from_row;
};

__aicore__ inline void place_contiguous(const LocalTensor<float>& to, const LocalTensor<float>& a,
                                        const LocalTensor<float>& b, Placing placing,
                                        uint32_t positions) {
    const int32_t count = static_cast<int32_t>(positions * kLanes);
    if (placing == Placing::kCopy) {
        Adds(to, a, 0.0f, count);
    } else {
        Add(to, a, b, count);
    }
}

// A repeat's positions: neighbours as they are, and others block by block: lanes 0 to 7, then 8 to
// 15; with large steps as many as lie no further apart than repeats may. 0: not even one does.
__aicore__ inline uint32_t positions_per_repeat(uint32_t step) {
    if (step == 1) return kPoolRepeatPositions;
    const uint32_t near = kMaxBlockStride / (step * kFloatBlocks);
    return near < kRepeatBlocks ? near : kRepeatBlocks;
}

__aicore__ inline void place_repeats(const LocalTensor<float>& to, const LocalTensor<float>& a,
                                     const LocalTensor<float>& b, Placing placing,
                                     uint32_t positions, uint32_t step, uint32_t repeats,
                                     uint32_t to_repeat, uint32_t from_repeat) {
    constexpr uint32_t kBlockLanes = kBlock<float>;
    const uint32_t sides = step == 1 ? 1 : kFloatBlocks;
    const uint64_t mask = positions * (step == 1 ? kLanes : kBlockLanes);
    const uint8_t to_block = static_cast<uint8_t>(step == 1 ? 1 : step * kFloatBlocks);
    const uint8_t from_block = static_cast<uint8_t>(sides);
    const uint8_t to_rep = static_cast<uint8_t>(to_repeat);
    const uint8_t from_rep = static_cast<uint8_t>(from_repeat);
    const bool as_to = placing == Placing::kAdd;
    const UnaryRepeatParams copied(to_block, from_block, to_rep, from_rep);
    const BinaryRepeatParams added(to_block, from_block, as_to ? to_block : from_block, to_rep,
                                   from_rep, as_to ? to_rep : from_rep);
    for (uint32_t done = 0; done < repeats; done += kMaxRepeat) {
        const uint32_t left = repeats - done;
        const uint8_t count = static_cast<uint8_t>(left < kMaxRepeat ? left : kMaxRepeat);
        for (uint32_t side = 0; side < sides; ++side) {
            const uint32_t to_at = (done * to_repeat + side) * kBlockLanes;
            const uint32_t from_at = (done * from_repeat + side) * kBlockLanes;
            if (placing == Placing::kCopy) {
                Adds(to[to_at], a[from_at], 0.0f, mask, count, copied);
            } else {
                Add(to[to_at], a[from_at], b[as_to ? to_at : from_at], mask, count, added);
            }
        }
    }
}

__aicore__ inline void place_row(const LocalTensor<float>& to, const LocalTensor<float>& a,
                                 const LocalTensor<float>& b, Placing placing, uint32_t columns,
                                 uint32_t step) {
    if (step == 1) {
        place_contiguous(to, a, b, placing, columns);
        return;
    }
    const uint32_t b_step = placing == Placing::kAdd ? step : 1;
    const uint32_t at_once = positions_per_repeat(step);
    const uint32_t to_repeat = at_once * step * kFloatBlocks;
    if (at_once == 0) {
        for (uint32_t i = 0; i < columns; ++i)
            place_contiguous(to[i * step * kLanes], a[i * kLanes], b[i * b_step * kLanes], placing,
                             1);
        return;
    }
    const uint32_t whole = columns / at_once, rest = columns % at_once;
    if (whole > 0)
        place_repeats(to, a, b, placing, at_once, step, whole, to_repeat, at_once * kFloatBlocks);
    const uint32_t done = whole * at_once;
    if (rest > 0)
        place_repeats(to[done * step * kLanes], a[done * kLanes], b[done * b_step * kLanes],
                      placing, rest, step, 1, 0, 0);
}

__aicore__ inline void place(const LocalTensor<float>& to, const LocalTensor<float>& a,
                             const LocalTensor<float>& b, Placing placing, const Placement& p) {
    if (p.rows == 1 || (p.columns == p.from_row && p.to_row == p.step * p.from_row)) {
        place_row(to, a, b, placing, p.rows * p.columns, p.step);
        return;
    }
    const uint32_t to_gap = (p.to_row - p.columns) * kFloatBlocks;
    const uint32_t from_gap = (p.from_row - p.columns) * kFloatBlocks;
    if (placing == Placing::kCopy && p.step == 1 && p.rows <= kMaxPieces &&
        p.columns * kFloatBlocks <= UINT16_MAX && to_gap <= UINT16_MAX && from_gap <= UINT16_MAX) {
        DataCopy(to, a,
                 DataCopyParams(static_cast<uint16_t>(p.rows),
                                static_cast<uint16_t>(p.columns * kFloatBlocks),
                                static_cast<uint16_t>(from_gap), static_cast<uint16_t>(to_gap)));
        return;
    }
    // Either repeats run along a row, or, with fewer instructions where rows are short, down them.
    const uint32_t to_repeat = p.to_row * kFloatBlocks, from_repeat = p.from_row * kFloatBlocks;
    const uint32_t at_once = positions_per_repeat(p.step);
    const bool down = to_repeat <= kMaxBlockStride && from_repeat <= kMaxBlockStride &&
                      at_once > 0 && (p.columns - 1) / at_once + 1 < p.rows;
    const bool as_to = placing == Placing::kAdd;
    if (!down) {
        for (uint32_t row = 0; row < p.rows; ++row) {
            const uint32_t from = row * p.from_row * kLanes, target = row * p.to_row * kLanes;
            place_row(to[target], a[from], b[as_to ? target : from], placing, p.columns, p.step);
        }
        return;
    }
    for (uint32_t first = 0; first < p.columns; first += at_once) {
        const uint32_t left = p.columns - first;
        const uint32_t from = first * kLanes, target = first * p.step * kLanes;
        place_repeats(to[target], a[from], b[as_to ? target : from], placing,
                      left < at_once ? left : at_once, p.step, p.rows, to_repeat, from_repeat);
    }
}

}  // namespace kernels
