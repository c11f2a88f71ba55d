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
        if (blocks >= kMaxStride) continue;
        const uint32_t lanes = step * pitch % kFloatsPerBlock;
        if (lanes == 1 || lanes == 2) return {step, blocks, static_cast<int32_t>(lanes)};
        if (lanes == 6 || lanes == 7) return {step, blocks + 1, static_cast<int32_t>(lanes) - 8};
    }
    return {0, 0, 0};
}

// Rows of floats in a buffer: `count` of each, the first from element `start` on.
struct Rows {
    uint32_t start, rows, count, pitch;
};

// Neighbours among every skew.step-th row. Block j of row i lies i * skew.stride blocks behind that
// of row 0; the row begins in block 0, or behind it, at `lane` + i * skew.lanes, at most 8.
class SkewedRows {
  public:
    // From row `first` on.
    __aicore__ SkewedRows(const Rows& all, const Skew& skew, uint32_t first)
        : skew_(skew), count_(all.count) {
        const uint32_t begin = all.start + first * all.pitch;
        at_ = begin / kFloatsPerBlock;
        lane_ = static_cast<int32_t>(begin % kFloatsPerBlock);
        if (skew.lanes < 0 && lane_ == 0 && at_ > 0) {
            --at_;
            lane_ = kFloatsPerBlock;
        }
        const uint32_t left = (all.rows - first + skew.step - 1) / skew.step;
        const int32_t end = skew.lanes > 0 ? static_cast<int32_t>(kFloatsPerBlock) - 1 : 0;
        rows_ = at_most(left, static_cast<uint32_t>((end - lane_) / skew.lanes) + 1);
        rows_ = at_most(rows_, kFloatsPerRepeat / kFloatsPerBlock);
    }
    __aicore__ uint32_t rows() const { return rows_; }

    // sums[i * 8 + l], l < 8, add up to row i, those behind the last row to 0. Overwrites data.
    __aicore__ void fold(const LocalTensor<float>& sums, const LocalTensor<float>& data) const {
        const uint64_t lanes = rows_ * kFloatsPerBlock;
        const auto stride = static_cast<uint8_t>(skew_.stride);
        uint32_t blocks = last() - 1;
        while (blocks > 2) {
            const uint32_t half = (blocks + 1) / 2;
            const LocalTensor<float> to = block(data, 1);
            Add(to, to, block(data, 1 + half), lanes, static_cast<uint8_t>(blocks - half),
                BinaryRepeatParams(stride, stride, stride, 1, 1, 1));
            blocks = half;
        }
        Add(sums, block(data, 1), block(data, 2), lanes, 1,
            BinaryRepeatParams(1, stride, stride, 8, 8, 8));
        for_each_end([&](uint32_t index, uint64_t* mask) {
            Add(sums, sums, block(data, index), mask, 1, BinaryRepeatParams(1, 1, stride, 8, 8, 8));
        });
    }

    // Subtracts sums[i * 8 + l] from the l-th lanes of row i's blocks.
    __aicore__ void subtract(const LocalTensor<float>& data, const LocalTensor<float>& sums) const {
        const auto stride = static_cast<uint8_t>(skew_.stride);
        const BinaryRepeatParams params(stride, stride, 1, 1, 1, 0);
        const LocalTensor<float> inner = block(data, 1);
        const uint64_t lanes = rows_ * kFloatsPerBlock;
        Sub(inner, inner, sums, lanes, static_cast<uint8_t>(last() - 1), params);
        for_each_end([&](uint32_t index, uint64_t* mask) {
            const LocalTensor<float> end = block(data, index);
            Sub(end, end, sums, mask, 1, params);
        });
    }

  private:
    // Blocks 1 to that one, exclusive, hold lanes of these rows only.
    __aicore__ uint32_t last() const { return count_ / kFloatsPerBlock; }
    __aicore__ LocalTensor<float> block(const LocalTensor<float>& data, uint32_t index) const {
        return data[(at_ + index) * kFloatsPerBlock];
    }

    // Calls take(block, mask of its lanes in all rows) for the blocks at both ends.
    template <typename Take>
    __aicore__ void for_each_end(const Take& take) const {
        constexpr int32_t kLast = kFloatsPerBlock;
        for (uint32_t k = 0; k < 3; ++k) {
            const uint32_t index = k == 0 ? 0 : last() + k - 1;
            uint64_t mask[2] = {0, 0};
            for (uint32_t i = 0; i < rows_; ++i) {
                const int32_t begin = lane_ + static_cast<int32_t>(i) * skew_.lanes;
                const int32_t end =
                    begin + static_cast<int32_t>(count_) - static_cast<int32_t>(index) * kLast;
                const uint64_t before = k == 0 ? 0xffull << begin : 0xff;
                const uint64_t lanes = end >= kLast ? 0xff : end > 0 ? (1ull << end) - 1 : 0;
                mask[0] |= (before & lanes & 0xff) << (i * kFloatsPerBlock);
            }
            if (mask[0] != 0) take(index, mask);
        }
    }

    const Skew skew_;
    const uint32_t count_;
    uint32_t at_, rows_;
    int32_t lane_;
};

// Calls take(rows, index) for all rows in groups of which one is a repeat; returns their number.
template <typename Take>
__aicore__ inline uint32_t for_each_skewed(const Rows& all, const Skew& skew, const Take& take) {
    uint32_t index = 0;
    for (uint32_t first = 0; first < skew.step && first < all.rows; ++first) {
        for (uint32_t row = first; row < all.rows; ++index) {
            const SkewedRows rows(all, skew, row);
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

// Whether this takes fewer instructions than rows whole blocks apart.
__aicore__ inline bool is_skewed(const Rows& all, uint32_t sets) {
    constexpr uint32_t kInstructions = 15;  // of a group, or of a row alone
    const Skew skew = skew_of(all.pitch);
    if (__CCE_AICORE__ == 100 || skew.step == 0) return false;
    if (all.count < 3 * kFloatsPerBlock || all.rows < 3 * skew.step) return false;
    const uint32_t width = static_cast<uint32_t>(skew.lanes < 0 ? -skew.lanes : skew.lanes);
    const uint32_t groups = skew.step + all.rows * width / kFloatsPerBlock;
    const bool alone = sets * all.pitch / kFloatsPerBlock > kMaxStride;
    const uint32_t pieces = all.pitch / kFloatsPerRepeat + 2;
    return groups * kInstructions < (alone ? all.rows * kInstructions : sets * (2 * pieces + 1));
}

}  // namespace kernels
