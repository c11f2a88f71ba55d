// Sums of rows and differences with them where rows begin up to four lanes further in a block, or
// less far, from one to the next: instructions take the same block of eight of them at once.
#pragma once

#include "softmax_backward/arithmetic.h"

namespace kernels {

// Rows of floats in a buffer: `count` of each, the first from element `start` on.
struct Rows {
    uint32_t start, rows, count, pitch;
};

// A row begins `stride` blocks and `lanes` lanes behind the one before.
struct Skew {
    uint32_t stride;
    int32_t lanes;  // 0: too far apart
    __aicore__ explicit Skew(uint32_t pitch)
        : stride((pitch + 4) / kFloatsPerBlock),
          lanes(static_cast<int32_t>(pitch) - static_cast<int32_t>(stride * kFloatsPerBlock)) {
        if (stride > kMaxStride) lanes = 0;
    }
    __aicore__ uint32_t width() const { return static_cast<uint32_t>(lanes < 0 ? -lanes : lanes); }
};

constexpr uint32_t kGroupRows = kFloatsPerRepeat / kFloatsPerBlock;
__aicore__ inline uint32_t skewed_groups(uint32_t rows) {
    return (rows + kGroupRows - 1) / kGroupRows;
}

// Groups of `rows` neighbouring rows, of eight if there are several groups. Block j of row i lies
// i * skew.stride blocks behind that of row 0, whose block 0 it begins in; row i begins at lane
// `lane` + i * skew.lanes of its block 0, which may be a lane of another block.
class SkewedRows {
  public:
    __aicore__ SkewedRows(const Rows& all, const Skew& skew, uint32_t first, uint32_t groups)
        : skew_(skew), count_(static_cast<int32_t>(all.count)), groups_(groups), pitch_(all.pitch) {
        const uint32_t begin = all.start + first * all.pitch;
        at_ = static_cast<int32_t>(begin / kFloatsPerBlock);
        lane_ = static_cast<int32_t>(begin % kFloatsPerBlock);
        rows_ = at_most(all.rows - first, kGroupRows);
        const int32_t change = static_cast<int32_t>(rows_ - 1) * skew.lanes;
        const int32_t low = lane_ + (change < 0 ? change : 0);
        const int32_t high = lane_ + (change > 0 ? change : 0);
        begin_ = block_of(low);
        whole_ = block_of(high + 7);
        rest_ = block_of(low + count_);
        if (rest_ < whole_) rest_ = whole_;
        end_ = block_of(high + count_ + 7);
    }

    // sums[g * 64 + i * 8 + l], l < 8, which are zero, add up to row i of group g. Overwrites data.
    __aicore__ void fold(const LocalTensor<float>& sums, const LocalTensor<float>& data) const {
        const auto stride = static_cast<uint8_t>(skew_.stride);
        uint32_t blocks = whole_blocks();
        while (blocks > kMostTerms) {
            const uint32_t half = (blocks + 1) / 2;
            for_blocks(blocks - half, [&](uint32_t at, uint32_t, uint8_t repeats, uint8_t step) {
                const LocalTensor<float> to = block(data, whole_)[at];
                Add(to, to, to[half * kFloatsPerBlock], lanes(), repeats,
                    BinaryRepeatParams(stride, stride, stride, step, step, step));
            });
            blocks = half;
        }
        const auto add = [&](const LocalTensor<float>& sum, const LocalTensor<float>& from,
                             auto mask, uint8_t repeats, uint8_t step, uint8_t sum_step) {
            Add(sum, from, sum, mask, repeats,
                BinaryRepeatParams(1, stride, 1, sum_step, step, sum_step));
        };
        for_blocks(blocks, [&](uint32_t at, uint32_t group, uint8_t repeats, uint8_t step) {
            add(sums[group * kFloatsPerRepeat], block(data, whole_)[at], lanes(), repeats, step,
                sum_step(step));
        });
        for_each_end([&](int32_t index, uint32_t row, uint64_t* mask) {
            add(sums[row * kFloatsPerBlock], block(data, index, row), mask, repeats_of_groups(),
                group_step(), kSumBlocks);
        });
    }

    // Subtracts sums[g * 64 + i * 8 + l] from the l-th lanes of row i's blocks, of group g.
    __aicore__ void subtract(const LocalTensor<float>& data, const LocalTensor<float>& sums) const {
        const auto stride = static_cast<uint8_t>(skew_.stride);
        const auto take = [&](const LocalTensor<float>& from, const LocalTensor<float>& sum,
                              auto mask, uint8_t repeats, uint8_t step, uint8_t sum_step) {
            Sub(from, from, sum, mask, repeats,
                BinaryRepeatParams(stride, stride, 1, step, step, sum_step));
        };
        for_blocks(whole_blocks(), [&](uint32_t at, uint32_t group, uint8_t repeats, uint8_t step) {
            take(block(data, whole_)[at], sums[group * kFloatsPerRepeat], lanes(), repeats, step,
                 sum_step(step));
        });
        for_each_end([&](int32_t index, uint32_t row, uint64_t* mask) {
            take(block(data, index, row), sums[row * kFloatsPerBlock], mask, repeats_of_groups(),
                 group_step(), kSumBlocks);
        });
    }

  private:
    static constexpr uint8_t kSumBlocks = kGroupRows;  // of a group
    static constexpr uint32_t kMostTerms = 64;  // blocks added one by one, for no longer chains

    // Of a lane from `lane_`'s block on; it may lie up to four blocks before that.
    __aicore__ static int32_t block_of(int32_t lane) { return (lane + 32) / 8 - 4; }
    // Blocks `whole_` to `rest_`, exclusive, hold lanes of these rows only.
    __aicore__ uint32_t whole_blocks() const { return static_cast<uint32_t>(rest_ - whole_); }
    __aicore__ uint64_t lanes() const { return rows_ * kFloatsPerBlock; }
    __aicore__ uint8_t repeats_of_groups() const { return static_cast<uint8_t>(groups_); }
    __aicore__ uint8_t group_step() const {  // blocks
        return static_cast<uint8_t>(groups_ > 1 ? pitch_ : 0);
    }
    // From the sums of one repeat to the next: those of its group, or of one group after the other.
    __aicore__ static uint8_t sum_step(uint8_t step) { return step == 1 ? 0 : kSumBlocks; }
    __aicore__ LocalTensor<float> block(const LocalTensor<float>& data, int32_t index,
                                        uint32_t row = 0) const {
        const int32_t at = at_ + index + static_cast<int32_t>(row * skew_.stride);
        return data[static_cast<uint32_t>(at) * kFloatsPerBlock];
    }

    // Calls take(elements from the first block on, group, repeats, blocks from one to the next) for
    // `count` blocks of all groups: block after block or group after group, whichever are fewer.
    template <typename Take>
    __aicore__ void for_blocks(uint32_t count, const Take& take) const {
        if (groups_ <= count) {
            for (uint32_t g = 0; g < groups_; ++g) {
                take(g * pitch_ * kFloatsPerBlock, g, static_cast<uint8_t>(count), 1);
            }
            return;
        }
        for (uint32_t i = 0; i < count; ++i) {
            take(i * kFloatsPerBlock, 0, repeats_of_groups(), group_step());
        }
    }

    // Calls take(block, first row with lanes there, mask of its lanes from that row on) for the
    // blocks at both ends.
    template <typename Take>
    __aicore__ void for_each_end(const Take& take) const {
        constexpr int32_t kFloats = kFloatsPerBlock;
        for (int32_t index = begin_; index < end_; ++index) {
            if (index == whole_) index = rest_;
            if (index == end_) return;
            uint64_t mask[2] = {0, 0};
            for (uint32_t i = 0; i < rows_; ++i) {
                const int32_t begin =
                    lane_ + static_cast<int32_t>(i) * skew_.lanes - index * kFloats;
                const int32_t end = begin + count_;
                if (begin >= kFloats || end <= 0) continue;
                const uint64_t before = begin > 0 ? 0xffull << begin : 0xff;
                const uint64_t up_to = end >= kFloats ? 0xff : (1ull << end) - 1;
                mask[0] |= (before & up_to & 0xff) << (i * kFloatsPerBlock);
            }
            uint32_t row = 0;
            for (; (mask[0] & 0xff) == 0; ++row) mask[0] >>= kFloatsPerBlock;
            take(index, row, mask);
        }
    }

    const Skew skew_;
    const int32_t count_;
    const uint32_t groups_, pitch_;  // a group is as many blocks behind the other
    int32_t at_, lane_;
    uint32_t rows_;
    int32_t begin_, whole_, rest_, end_;  // blocks
};

// Calls take(rows, index of the first group) for all rows.
template <typename Take>
__aicore__ inline void for_each_skewed(const Rows& all, const Take& take) {
    const Skew skew(all.pitch);
    const uint32_t whole = all.rows / kGroupRows;
    const uint32_t at_once = all.pitch > kMaxStride ? 1 : kMaxRepeat;
    for (uint32_t g = 0; g < whole; g += at_once) {
        take(SkewedRows(all, skew, g * kGroupRows, at_most(whole - g, at_once)), g);
    }
    if (whole * kGroupRows < all.rows) take(SkewedRows(all, skew, whole * kGroupRows, 1), whole);
}

// Whether this takes less time than rows whole blocks apart, in so many sets (row_sets.h).
__aicore__ inline bool is_skewed(const Rows& all, uint32_t sets) {
    const Skew skew(all.pitch);
    if (__CCE_AICORE__ == 100 || skew.lanes == 0) return false;
    if (all.count < 2 * kFloatsPerBlock || all.rows < 3) return false;
    constexpr uint32_t kStart = 14;  // of an instruction, in repeats
    const uint32_t groups = skewed_groups(all.rows), ends = 2 * skew.width() + 2;
    const bool alone = all.pitch > kMaxStride;
    const uint32_t all_blocks = all.count / kFloatsPerBlock;
    const uint32_t whole = all_blocks - at_most(all_blocks, skew.width());
    const uint32_t instructions =
        alone ? groups * (ends + 1) : at_most(groups, whole) + (1 + (all.rows % 8 > 0)) * ends;
    const uint32_t needed = 2 * (kStart * instructions + groups * (whole + ends));
    const uint32_t pieces = (all.count + 7 + 63) / kFloatsPerRepeat;
    const bool is_far = sets * all.pitch / kFloatsPerBlock > kMaxStride;
    const uint32_t apart =
        (2 * pieces + 4) * all.rows +
        kStart * (is_far || all.rows * 3 <= pieces * sets ? 7 * all.rows : sets * (2 * pieces + 1));
    return needed < apart;
}

}  // namespace kernels
