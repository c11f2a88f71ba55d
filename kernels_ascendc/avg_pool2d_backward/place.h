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

// How an instruction goes on: from block to block of a repeat, and from repeat to repeat; blocks.
struct PlaceSteps {
    uint32_t to_block, from_block, to_repeat, from_repeat;
};

// `repeats` repeats of `blocks` blocks each.
__aicore__ inline void place_blocks(const LocalTensor<float>& to, const LocalTensor<float>& a,
                                    const LocalTensor<float>& b, Placing placing, uint32_t blocks,
                                    uint32_t repeats, const PlaceSteps& steps) {
    constexpr uint32_t kBlockLanes = kBlock<float>;
    const uint64_t mask = blocks * kBlockLanes;
    const auto to_block = static_cast<uint8_t>(steps.to_block);
    const auto from_block = static_cast<uint8_t>(steps.from_block);
    const auto to_rep = static_cast<uint8_t>(steps.to_repeat);
    const auto from_rep = static_cast<uint8_t>(steps.from_repeat);
    const bool as_to = placing == Placing::kAdd;
    const UnaryRepeatParams copied(to_block, from_block, to_rep, from_rep);
    const BinaryRepeatParams added(to_block, from_block, as_to ? to_block : from_block, to_rep,
                                   from_rep, as_to ? to_rep : from_rep);
    for (uint32_t done = 0; done < repeats; done += kMaxRepeat) {
        const uint32_t left = repeats - done;
        const uint8_t count = static_cast<uint8_t>(left < kMaxRepeat ? left : kMaxRepeat);
        const uint32_t to_at = done * steps.to_repeat * kBlockLanes;
        const uint32_t from_at = done * steps.from_repeat * kBlockLanes;
        if (placing == Placing::kCopy) {
            Adds(to[to_at], a[from_at], 0.0f, mask, count, copied);
        } else {
            Add(to[to_at], a[from_at], b[as_to ? to_at : from_at], mask, count, added);
        }
    }
}

// Repeats of so many positions, `step` apart in `to`.
__aicore__ inline void place_repeats(const LocalTensor<float>& to, const LocalTensor<float>& a,
                                     const LocalTensor<float>& b, Placing placing,
                                     uint32_t positions, uint32_t step, uint32_t repeats,
                                     uint32_t to_repeat, uint32_t from_repeat) {
    // Neighbouring positions are as many neighbouring blocks.
    const uint32_t sides = step == 1 ? 1 : kFloatBlocks;
    const PlaceSteps steps{step == 1 ? 1 : step * kFloatBlocks, sides, to_repeat, from_repeat};
    for (uint32_t side = 0; side < sides; ++side) {
        const uint32_t at = side * kBlock<float>;
        place_blocks(to[at], a[at], b[at], placing, positions * (kFloatBlocks / sides), repeats,
                     steps);
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

// Rows that do not continue each other, by instructions along a row each, or down the rows with
// some neighbouring columns to a repeat, or with a block of eight rows to a repeat, either along
// the columns or down the rows: what takes least, in cycles of which an instruction's start takes
// some and a repeat one (the tiler's placing_cycles() counts the same).
class PlaceRows {
    static constexpr uint32_t kStart = 14;

  public:
    __aicore__ inline PlaceRows(const Placement& p, Placing placing)
        : p_(p),
          placing_(placing),
          as_to_(placing == Placing::kAdd),
          at_once_(positions_per_repeat(p.step)),
          sides_(p.step == 1 ? 1 : kFloatBlocks),
          to_row_(p.to_row * kFloatBlocks),
          from_row_(p.from_row * kFloatBlocks) {}

    __aicore__ inline void run(const LocalTensor<float>& to, const LocalTensor<float>& a,
                               const LocalTensor<float>& b) const {
        const uint32_t further = to_row_ > from_row_ ? to_row_ : from_row_;
        if (p_.rows == 1 || at_once_ == 0 || further > kMaxBlockStride) {
            run_along(to, a, b);
            return;
        }
        const uint32_t parts = (p_.columns - 1) / at_once_ + 1;
        const uint32_t groups = p_.rows / kRepeatBlocks, rest = p_.rows % kRepeatBlocks;
        const uint32_t along = p_.rows * sides_ * (kStart + parts);
        const uint32_t down = parts * sides_ * (kStart + p_.rows);
        const uint32_t group = sides_ * kStart + p_.columns * kFloatBlocks;
        const uint32_t across = (groups + (rest > 0 ? 1 : 0)) * group;
        const bool has_groups = groups > 1 && further * kRepeatBlocks <= kMaxBlockStride;
        const uint32_t groups_down =
            has_groups ? p_.columns * kFloatBlocks * (kStart + groups) + (rest > 0 ? group : 0)
                       : UINT32_MAX;
        const uint32_t least_blocks = across < groups_down ? across : groups_down;
        if (along <= down && along <= least_blocks) {
            run_along(to, a, b);
        } else if (down <= least_blocks) {
            run_down(to, a, b);
        } else {
            const uint32_t done = groups_down < across ? groups : 0;
            if (done > 0) run_groups_down(to, a, b, done);
            run_across(to, a, b, done * kRepeatBlocks);
        }
    }

  private:
    __aicore__ inline LocalTensor<float> second(const LocalTensor<float>& b, uint32_t to,
                                                uint32_t from) const {
        return b[as_to_ ? to : from];
    }
    __aicore__ inline void run_along(const LocalTensor<float>& to, const LocalTensor<float>& a,
                                     const LocalTensor<float>& b) const {
        for (uint32_t row = 0; row < p_.rows; ++row) {
            const uint32_t from = row * p_.from_row * kLanes, target = row * p_.to_row * kLanes;
            place_row(to[target], a[from], second(b, target, from), placing_, p_.columns, p_.step);
        }
    }
    __aicore__ inline void run_down(const LocalTensor<float>& to, const LocalTensor<float>& a,
                                    const LocalTensor<float>& b) const {
        for (uint32_t first = 0; first < p_.columns; first += at_once_) {
            const uint32_t left = p_.columns - first;
            const uint32_t from = first * kLanes, target = first * p_.step * kLanes;
            place_repeats(to[target], a[from], second(b, target, from), placing_,
                          left < at_once_ ? left : at_once_, p_.step, p_.rows, to_row_, from_row_);
        }
    }
    // From row `first` on.
    __aicore__ inline void run_across(const LocalTensor<float>& to, const LocalTensor<float>& a,
                                      const LocalTensor<float>& b, uint32_t first) const {
        const uint32_t repeats = p_.columns * (kFloatBlocks / sides_);
        const PlaceSteps steps{to_row_, from_row_, sides_ == 1 ? 1 : p_.step * kFloatBlocks,
                               sides_};
        for (uint32_t row = first; row < p_.rows; row += kRepeatBlocks) {
            const uint32_t left = p_.rows - row;
            for (uint32_t side = 0; side < sides_; ++side) {
                const uint32_t from = row * p_.from_row * kLanes + side * kBlock<float>;
                const uint32_t target = row * p_.to_row * kLanes + side * kBlock<float>;
                place_blocks(to[target], a[from], second(b, target, from), placing_,
                             left < kRepeatBlocks ? left : kRepeatBlocks, repeats, steps);
            }
        }
    }
    // `groups` times eight rows.
    __aicore__ inline void run_groups_down(const LocalTensor<float>& to,
                                           const LocalTensor<float>& a, const LocalTensor<float>& b,
                                           uint32_t groups) const {
        const PlaceSteps steps{to_row_, from_row_, to_row_ * kRepeatBlocks,
                               from_row_ * kRepeatBlocks};
        for (uint32_t column = 0; column < p_.columns; ++column) {
            for (uint32_t side = 0; side < kFloatBlocks; ++side) {
                const uint32_t from = column * kLanes + side * kBlock<float>;
                const uint32_t target = column * p_.step * kLanes + side * kBlock<float>;
                place_blocks(to[target], a[from], second(b, target, from), placing_, kRepeatBlocks,
                             groups, steps);
            }
        }
    }

    const Placement p_;
    const Placing placing_;
    const bool as_to_;
    const uint32_t at_once_;            // positions of a repeat along a row
    const uint32_t sides_;              // instructions for neighbouring columns
    const uint32_t to_row_, from_row_;  // blocks
};

__aicore__ inline void place(const LocalTensor<float>& to, const LocalTensor<float>& a,
                             const LocalTensor<float>& b, Placing placing, Placement p) {
    if (p.columns == p.from_row && p.to_row == p.step * p.from_row) {
        p.columns *= p.rows;
        p.rows = 1;
    }
    const uint32_t to_gap = (p.to_row - p.columns) * kFloatBlocks;
    const uint32_t from_gap = (p.from_row - p.columns) * kFloatBlocks;
    if (placing == Placing::kCopy && p.step == 1 && p.rows > 1 && p.rows <= kMaxPieces &&
        p.columns * kFloatBlocks <= UINT16_MAX && to_gap <= UINT16_MAX && from_gap <= UINT16_MAX) {
        DataCopy(to, a,
                 DataCopyParams(static_cast<uint16_t>(p.rows),
                                static_cast<uint16_t>(p.columns * kFloatBlocks),
                                static_cast<uint16_t>(from_gap), static_cast<uint16_t>(to_gap)));
        return;
    }
    PlaceRows(p, placing).run(to, a, b);
}

}  // namespace kernels
