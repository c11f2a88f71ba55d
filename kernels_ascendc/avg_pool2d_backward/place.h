// Rows of lane tiles, spread out by a step: what turns the sums for every stride-th element into
// part of a row.
#pragma once

#include "common/lanes.h"

namespace kernels {

constexpr uint32_t kFloatBlocks = kLanes * sizeof(float) / kBlockBytes;  // blocks of a position
constexpr uint32_t kMaxBlockStride = 255;
constexpr uint32_t kPositionsPerRepeat = 8;

// What place() writes: position column * step of row r = a (+ b) of that column, for `columns`
// columns of `rows` rows; row pitches in positions.
struct Placement {
    uint32_t columns, step;
    uint32_t rows, to_row, from_row;
};

// One side (lanes 0 to 7, or 8 to 15) of up to 8 positions per repeat, block by block.
__aicore__ inline void place_blocks(const LocalTensor<float>& to, const LocalTensor<float>& a,
                                    const LocalTensor<float>& b, bool adds, uint32_t positions,
                                    uint32_t step, uint32_t repeats, uint32_t to_repeat,
                                    uint32_t from_repeat) {
    constexpr uint32_t kLanesPerBlock = 8;
    const uint64_t mask = positions * kLanesPerBlock;
    for (uint32_t done = 0; done < repeats; done += kMaxRepeat) {
        const uint32_t left = repeats - done;
        const uint8_t count = static_cast<uint8_t>(left < kMaxRepeat ? left : kMaxRepeat);
        const uint32_t to_at = done * to_repeat * kLanesPerBlock;
        const uint32_t from_at = done * from_repeat * kLanesPerBlock;
        const uint8_t to_block = static_cast<uint8_t>(step * kFloatBlocks);
        for (uint32_t side = 0; side < kFloatBlocks; ++side) {
            const uint32_t shift = side * kLanesPerBlock;
            if (adds) {
                BinaryRepeatParams params(
                    to_block, kFloatBlocks, kFloatBlocks, static_cast<uint8_t>(to_repeat),
                    static_cast<uint8_t>(from_repeat), static_cast<uint8_t>(from_repeat));
                Add(to[to_at + shift], a[from_at + shift], b[from_at + shift], mask, count, params);
            } else {
                UnaryRepeatParams params(to_block, kFloatBlocks, static_cast<uint8_t>(to_repeat),
                                         static_cast<uint8_t>(from_repeat));
                Adds(to[to_at + shift], a[from_at + shift], 0.0f, mask, count, params);
            }
        }
    }
}

__aicore__ inline void place_contiguous(const LocalTensor<float>& to, const LocalTensor<float>& a,
                                        const LocalTensor<float>& b, bool adds,
                                        uint32_t positions) {
    if (adds) {
        Add(to, a, b, static_cast<int32_t>(positions * kLanes));
    } else {
        Adds(to, a, 0.0f, static_cast<int32_t>(positions * kLanes));
    }
}

__aicore__ inline void place_row(const LocalTensor<float>& to, const LocalTensor<float>& a,
                                 const LocalTensor<float>& b, bool adds, uint32_t columns,
                                 uint32_t step) {
    if (step == 1) {
        place_contiguous(to, a, b, adds, columns);
        return;
    }
    const uint32_t to_repeat = kPositionsPerRepeat * step * kFloatBlocks;
    const uint32_t from_repeat = kPositionsPerRepeat * kFloatBlocks;
    if (to_repeat <= kMaxBlockStride) {
        const uint32_t whole = columns / kPositionsPerRepeat, rest = columns % kPositionsPerRepeat;
        if (whole > 0)
            place_blocks(to, a, b, adds, kPositionsPerRepeat, step, whole, to_repeat, from_repeat);
        const uint32_t done = whole * kPositionsPerRepeat;
        if (rest > 0)
            place_blocks(to[done * step * kLanes], a[done * kLanes], b[done * kLanes], adds, rest,
                         step, 1, 0, 0);
        return;
    }
    for (uint32_t i = 0; i < columns; ++i)
        place_contiguous(to[i * step * kLanes], a[i * kLanes], b[i * kLanes], adds, 1);
}

__aicore__ inline void place(const LocalTensor<float>& to, const LocalTensor<float>& a,
                             const LocalTensor<float>& b, bool adds, const Placement& p) {
    // Either repeats run along a row, or, with fewer instructions where rows are short, down them.
    const uint32_t to_repeat = p.to_row * kFloatBlocks, from_repeat = p.from_row * kFloatBlocks;
    const uint32_t chunks = (p.columns + kPositionsPerRepeat - 1) / kPositionsPerRepeat;
    const bool down = to_repeat <= kMaxBlockStride && from_repeat <= kMaxBlockStride &&
                      p.step * kFloatBlocks <= kMaxBlockStride && chunks < p.rows;
    if (!down) {
        for (uint32_t row = 0; row < p.rows; ++row) {
            const uint32_t from = row * p.from_row * kLanes;
            place_row(to[row * p.to_row * kLanes], a[from], b[from], adds, p.columns, p.step);
        }
        return;
    }
    for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
        const uint32_t first = chunk * kPositionsPerRepeat;
        const uint32_t left = p.columns - first;
        place_blocks(to[first * p.step * kLanes], a[first * kLanes], b[first * kLanes], adds,
                     left < kPositionsPerRepeat ? left : kPositionsPerRepeat, p.step, p.rows,
                     to_repeat, from_repeat);
    }
}

}  // namespace kernels
