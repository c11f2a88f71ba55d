// Sums of rows and differences with them where rows begin a lane or two further in a block from one
// to the next: instructions take the same block of up to eight of them at once.
#pragma once

#include "softmax_backward/arithmetic.h"

namespace kernels {

// Every `step`-th row begins `stride` blocks and `lanes` lanes behind the one before.
struct Skew {
    uint32_t step;  // 0: there is no such step
    uint32_t stride;
    int32_t lanes;
};

__aicore__ inline Skew skew_of(uint32_t pitch) {
    const uint32_t steps[] = {1, 3, 2};
    for (const uint32_t step : steps) {
        const uint32_t blocks = step * pitch / kFloatsPerBlock;
        const uint32_t lanes = step * pitch % kFloatsPerBlock;
        if (blocks >= kMaxStride) continue;
        if (lanes == 1 || lanes == 2) return {step, blocks, static_cast<int32_t>(lanes)};
        const int32_t back = static_cast<int32_t>(lanes) - static_cast<int32_t>(kFloatsPerBlock);
        if (back == -1 || back == -2) return {step, blocks + 1, back};
    }
    return {0, 0, 0};
}

// Rows of floats in a buffer: `count` of each, the first from element `start` on.
struct Rows {
    uint32_t start, rows, count, pitch;
};

// Neighbours among every skew.step-th row, a group. Block j of row i lies i * skew.stride blocks
// behind that of row 0; the row begins in block 0, or at the begin of block 1, at lane `lane` +
// i * skew.lanes. Either one group, of which instructions take block after block, or several groups
// of eight neighbours, of all of which they take one block.
class SkewedRows {
  public:
    // The group from row `first` on, and those that follow.
    __aicore__ SkewedRows(const Rows& all, const Skew& skew, uint32_t first, uint32_t groups)
        : skew_(skew), count_(all.count), groups_(groups), group_stride_(all.pitch) {
        const uint32_t begin = all.start + first * all.pitch;
        at_ = static_cast<int32_t>(begin / kFloatsPerBlock);
        lane_ = static_cast<int32_t>(begin % kFloatsPerBlock);
        if (skew.lanes < 0 && lane_ == 0) {
            --at_;
            lane_ = kFloatsPerBlock;
        }
        const uint32_t left = (all.rows - first + skew.step - 1) / skew.step;
        const int32_t end = skew.lanes > 0 ? static_cast<int32_t>(kFloatsPerBlock) - 1 : 0;
        rows_ = at_most(left, static_cast<uint32_t>((end - lane_) / skew.lanes) + 1);
        rows_ = at_most(rows_, kFloatsPerRepeat / kFloatsPerBlock);
    }
    __aicore__ uint32_t rows() const { return rows_; }

    // sums[g * 64 + i * 8 + l], l < 8, add up to row i of group g. Overwrites data.
    __aicore__ void fold(const LocalTensor<float>& sums, const LocalTensor<float>& data) const {
        const auto stride = static_cast<uint8_t>(skew_.stride);
        uint32_t blocks = last() - 1;
        while (blocks > 2) {
            const uint32_t half = (blocks + 1) / 2;
            for_blocks(blocks - half, [&](uint32_t i, uint8_t repeats, uint8_t step) {
                const LocalTensor<float> to = block(data, 1 + i);
                Add(to, to, block(data, 1 + i + half), lanes(), repeats,
                    BinaryRepeatParams(stride, stride, stride, step, step, step));
            });
            blocks = half;
        }
        const auto groups = static_cast<uint8_t>(groups_);
        const auto next = static_cast<uint8_t>(group_stride_);
        Add(sums, block(data, 1), block(data, 2), lanes(), groups,
            BinaryRepeatParams(1, stride, stride, kSumBlocks, next, next));
        for_each_end([&](uint32_t index, uint32_t row, uint64_t* mask) {
            const LocalTensor<float> to = sums[row * kFloatsPerBlock];
            Add(to, to, block(data, index, row), mask, groups,
                BinaryRepeatParams(1, 1, stride, kSumBlocks, kSumBlocks, next));
        });
    }

    // Subtracts sums[g * 64 + i * 8 + l] from the l-th lanes of row i's blocks, of group g.
    __aicore__ void subtract(const LocalTensor<float>& data, const LocalTensor<float>& sums) const {
        const auto stride = static_cast<uint8_t>(skew_.stride);
        const auto subtract_from = [&](const LocalTensor<float>& to, uint32_t row, auto mask,
                                       uint8_t repeats, uint8_t step) {
            const uint8_t sum_step = groups_ == 1 ? 0 : kSumBlocks;
            Sub(to, to, sums[row * kFloatsPerBlock], mask, repeats,
                BinaryRepeatParams(stride, stride, 1, step, step, sum_step));
        };
        for_blocks(last() - 1, [&](uint32_t i, uint8_t repeats, uint8_t step) {
            subtract_from(block(data, 1 + i), 0, lanes(), repeats, step);
        });
        for_each_end([&](uint32_t index, uint32_t row, uint64_t* mask) {
            subtract_from(block(data, index, row), row, mask, static_cast<uint8_t>(groups_),
                          static_cast<uint8_t>(group_stride_));
        });
    }

  private:
    static constexpr uint8_t kSumBlocks = kFloatsPerRepeat / kFloatsPerBlock;  // of a group

    // Blocks 1 to that one, exclusive, hold lanes of these rows only.
    __aicore__ uint32_t last() const { return count_ / kFloatsPerBlock; }
    __aicore__ uint64_t lanes() const { return rows_ * kFloatsPerBlock; }
    // Block 0 of a row 0 that begins with block 1 may lie before the data.
    __aicore__ LocalTensor<float> block(const LocalTensor<float>& data, uint32_t index,
                                        uint32_t row = 0) const {
        const int32_t at = at_ + static_cast<int32_t>(index + row * skew_.stride);
        return data[static_cast<uint32_t>(at) * kFloatsPerBlock];
    }

    // Calls take(block, repeats, blocks from repeat to repeat) for blocks [0, count).
    template <typename Take>
    __aicore__ void for_blocks(uint32_t count, const Take& take) const {
        if (groups_ == 1) {
            take(0, static_cast<uint8_t>(count), 1);
            return;
        }
        for (uint32_t i = 0; i < count; ++i) {
            take(i, static_cast<uint8_t>(groups_), static_cast<uint8_t>(group_stride_));
        }
    }

    // Calls take(block, first row with lanes there, mask of its lanes from that row on) for the
    // blocks at both ends.
    template <typename Take>
    __aicore__ void for_each_end(const Take& take) const {
        constexpr int32_t kFloats = kFloatsPerBlock;
        for (uint32_t k = 0; k < 3; ++k) {
            const uint32_t index = k == 0 ? 0 : last() + k - 1;
            uint64_t mask[2] = {0, 0};
            for (uint32_t i = 0; i < rows_; ++i) {
                const int32_t begin = lane_ + static_cast<int32_t>(i) * skew_.lanes;
                const int32_t end =
                    begin + static_cast<int32_t>(count_) - static_cast<int32_t>(index) * kFloats;
                const uint64_t before = k == 0 ? 0xffull << begin : 0xff;
                const uint64_t up_to = end >= kFloats ? 0xff : end > 0 ? (1ull << end) - 1 : 0;
                mask[0] |= (before & up_to & 0xff) << (i * kFloatsPerBlock);
            }
            if (mask[0] == 0) continue;
            uint32_t row = 0;
            for (; (mask[0] & 0xff) == 0; ++row) mask[0] >>= kFloatsPerBlock;
            take(index, row, mask);
        }
    }

    const Skew skew_;
    const uint32_t count_;
    const uint32_t groups_, group_stride_;
    int32_t at_, lane_;
    uint32_t rows_;
};

// Rough numbers of instructions, of sums and differences.
constexpr uint32_t kGroupInstructions = 15;  // of a group, or of a row alone
__aicore__ inline uint32_t block_instructions(uint32_t count) {
    return 2 * (count / kFloatsPerBlock) + 6;
}

// Whether rows are whole groups, and better taken block by block.
__aicore__ inline bool is_by_blocks(const Rows& all, const Skew& skew) {
    const uint32_t groups = all.rows / kFloatsPerBlock;
    return skew.step == 1 && (skew.lanes == 1 || skew.lanes == -1) &&
           all.start % kFloatsPerBlock == 0 && all.rows % kFloatsPerBlock == 0 &&
           all.pitch <= kMaxStride && groups <= kMaxRepeat &&
           block_instructions(all.count) < groups * kGroupInstructions;
}

// Calls take(rows, index of the first group) for all rows; returns the number of groups.
template <typename Take>
__aicore__ inline uint32_t for_each_skewed(const Rows& all, const Skew& skew, const Take& take) {
    if (is_by_blocks(all, skew)) {
        const uint32_t groups = all.rows / kFloatsPerBlock;
        take(SkewedRows(all, skew, 0, groups), 0);
        return groups;
    }
    uint32_t index = 0;
    for (uint32_t first = 0; first < skew.step && first < all.rows; ++first) {
        for (uint32_t row = first; row < all.rows; ++index) {
            const SkewedRows rows(all, skew, row, 1);
            take(rows, index);
            row += rows.rows() * skew.step;
        }
    }
    return index;
}

// Groups of `rows` rows at most.
__aicore__ inline uint32_t most_skewed(uint32_t rows) {
    return rows / 4 + 6;
}

// Whether this takes fewer instructions than rows whole blocks apart, in so many sets.
__aicore__ inline bool is_skewed(const Rows& all, uint32_t sets) {
    const Skew skew = skew_of(all.pitch);
    if (__CCE_AICORE__ == 100 || skew.step == 0) return false;
    if (all.count < 3 * kFloatsPerBlock || all.rows < 3 * skew.step) return false;
    const uint32_t width = static_cast<uint32_t>(skew.lanes < 0 ? -skew.lanes : skew.lanes);
    const uint32_t groups = skew.step + all.rows * width / kFloatsPerBlock;
    const bool alone = sets * all.pitch / kFloatsPerBlock > kMaxStride;
    const uint32_t pieces = all.pitch / kFloatsPerRepeat + 2;
    const uint32_t needed =
        is_by_blocks(all, skew) ? block_instructions(all.count) : groups * kGroupInstructions;
    return needed < (alone ? all.rows * kGroupInstructions : sets * (2 * pieces + 1));
}

}  // namespace kernels
