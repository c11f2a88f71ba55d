// Rows of channels whose number is no multiple of a block's, several as one that is: channel c of
// row j at j * channels + c, where no instruction can begin. Sixteen stretches of a row as lanes
// (common/lanes.h) can: there a shift by elements is one by whole blocks.
#pragma once

#include "common/lanes.h"

namespace kernels {

__aicore__ inline void copy_floats(const LocalTensor<float>& to, const LocalTensor<float>& from,
                                   uint32_t count) {
    Muls(to, from, 1.0f, static_cast<int32_t>(count));
}
// data[0..total) = data[0..count), over and over.
__aicore__ inline void repeat_floats(const LocalTensor<float>& data, uint32_t count,
                                     uint32_t total) {
    for (uint32_t done = count; done < total; done *= 2)
        copy_floats(data[done], data, done < total - done ? done : total - done);
}

class JoinedRows {
  public:
    __aicore__ inline JoinedRows(uint32_t channels, uint32_t rows)
        : channels_(channels),
          rows_(rows),
          stretch_(round_up((channels + kFloatsPerBlock + kLanes - 1) / kLanes, kFloatsPerBlock)) {}

    // Floats that sum() writes to `sums`, and that it and repeat() need of scratch.
    __aicore__ inline uint32_t sum_floats() const { return stretch_ * kLanes; }
    __aicore__ inline uint32_t scratch_floats() const {
        return 2 * (sum_floats() + kBehind) + kFloatsPerRepeat;
    }

    // row[j * channels + c] = vector[c]. Overwrites `free` and `scratch`.
    __aicore__ inline void repeat(const LocalTensor<float>& row, const LocalTensor<float>& vector,
                                  const LocalTensor<float>& free,
                                  const LocalTensor<float>& scratch) const {
        const uint32_t count = sum_floats();
        Duplicate(row, 0.0f, static_cast<int32_t>(rows_ * channels_));
        Duplicate(free, 0.0f, static_cast<int32_t>(count + kFloatsPerBlock));
        copy_floats(free[kFloatsPerBlock], vector, channels_);
        interleave(scratch, free, stretch_ + kFloatsPerBlock, stretch_, free);
        for (uint32_t j = 0; j < rows_; ++j) {
            const uint32_t at = (kFloatsPerBlock - shift(j)) * kLanes;
            deinterleave(free, scratch[at], stretch_, stretch_, scratch[count + kBehind]);
            const LocalTensor<float> to = row[begin(j)];
            const uint32_t left = rows_ * channels_ - begin(j);
            Add(to, to, free, static_cast<int32_t>(count < left ? count : left));
        }
    }

    // sums[c] = the sum of row[j * channels + c] over j; overwrites more of `sums`, and `scratch`.
    __aicore__ inline void sum(const LocalTensor<float>& sums, const LocalTensor<float>& row,
                               const LocalTensor<float>& scratch) const {
        const uint32_t count = sum_floats();
        const LocalTensor<float> next = scratch[count + kBehind];
        for (uint32_t j = 0; j < rows_; ++j) {
            interleave(j == 0 ? scratch : next, row[begin(j)], stretch_ + kFloatsPerBlock, stretch_,
                       scratch);
            if (j > 0) Add(scratch, scratch, next[shift(j) * kLanes], static_cast<int32_t>(count));
        }
        deinterleave(sums, scratch, stretch_, stretch_, next);
    }

  private:
    static constexpr uint32_t kBehind = kFloatsPerBlock * kLanes;  // floats behind the stretches

    // Of row j the block in which it begins, and where there.
    __aicore__ inline uint32_t begin(uint32_t j) const {
        return j * channels_ / kFloatsPerBlock * kFloatsPerBlock;
    }
    __aicore__ inline uint32_t shift(uint32_t j) const { return j * channels_ % kFloatsPerBlock; }

    uint32_t channels_, rows_;
    uint32_t stretch_;  // elements
};

}  // namespace kernels
