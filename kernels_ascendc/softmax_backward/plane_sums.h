// Sums over the rows of planes [length][inner] that follow each other in an array of floats, and
// differences with them. Planes may begin inside blocks.
#pragma once

#include "common/lanes.h"
#include "ops/softmax_backward/tiling.h"
#include "softmax_backward/arithmetic.h"
#include "softmax_backward/row_sets.h"

namespace kernels {

class PlaneSums {
  public:
    // A plane has 7 elements more than a period, or just whole ones of `inner`.
    __aicore__ PlaneSums(uint32_t plane, const SoftmaxBackwardTiling& tiling)
        : plane_(plane), inner_(static_cast<uint32_t>(tiling.inner)), period_(tiling.period) {}

    // Of sum(), for so many planes.
    __aicore__ uint32_t scratch_floats(uint32_t planes) const {
        return period_ == inner_ ? kFloatsPerBlock : period_ * round_up(planes, kFloatsPerBlock);
    }

    // A period of sums at the first block that each plane has for itself, of planes from element
    // `start` on. The rest is overwritten.
    __aicore__ void sum(const LocalTensor<float>& data, uint32_t start, uint32_t planes,
                        [[maybe_unused]] const LocalTensor<float>& scratch) const {
        if (period_ == inner_) {
            fold_rows(data[start], planes, plane_, inner_, plane_);
            return;
        }
#if __CCE_AICORE__ != 100
        for (uint32_t p = 0; p < planes; ++p) {
            const Place at = place(start, p);
            fold(data[at.first], at.end - at.first);
            if (at.begin == at.first) continue;
            const LocalTensor<float> to = data[at.first + period_ - kFloatsPerBlock];
            combine<true>(to, data[at.first - kFloatsPerBlock], head_lanes(at), 1, 0, 0);
        }
        add_periods(data, start, planes, scratch);
#endif
    }

    // Of the same planes, with `sums` as sum() leaves them.
    __aicore__ void subtract(const LocalTensor<float>& data, const LocalTensor<float>& sums,
                             uint32_t start, uint32_t planes) const {
        for (uint32_t p = 0; p < planes; ++p) {
            const Place at = place(start, p);
            const LocalTensor<float> sum = sums[at.first];
            const uint32_t periods = (at.end - at.first) / period_;
            const uint32_t rest = at.first + periods * period_;
            subtract_vector(data[at.first], sum, periods, period_, period_);
            if (rest < at.end) subtract_vector(data[rest], sum, 1, at.end - rest, period_);
            if (at.begin == at.first) continue;
            const LocalTensor<float> to = data[at.first - kFloatsPerBlock];
            const LocalTensor<float> last = sum[period_ - kFloatsPerBlock];
            Sub(to, to, last, head_lanes(at).bits, 1, BinaryRepeatParams(1, 1, 1, 8, 8, 8));
        }
    }

  private:
    // Of a plane in the array; `first` is where its first whole block begins.
    struct Place {
        uint32_t begin, first, end;
    };
    __aicore__ Place place(uint32_t start, uint32_t index) const {
        const uint32_t begin = start + index * plane_;
        return {begin, round_up(begin, kFloatsPerBlock), begin + plane_};
    }
    // Of the block before the first whole one.
    __aicore__ static LaneMask head_lanes(const Place& at) {
        return LaneMask(at.begin % kFloatsPerBlock, kFloatsPerBlock);
    }

#if __CCE_AICORE__ != 100
    // data[c] = the sum of data[c + k * period] over k, c + k * period < count.
    __aicore__ void fold(const LocalTensor<float>& data, uint32_t count) const {
        constexpr uint32_t kMostTerms = 64;  // added one by one, for no longer chains
        if (period_ > kFloatsPerRepeat) {
            fold_rows(data, 1, count, period_, 0);
            return;
        }
        fold_rows(data, 1, count, kMostTerms * period_, 0);
        count = at_most(count, kMostTerms * period_);
        const uint32_t periods = count / period_, rest = count % period_;
        const auto step = static_cast<uint8_t>(period_ / kFloatsPerBlock);
        if (periods > 1) {  // repeats add to the same lanes
            Add(data, data[period_], data, static_cast<uint64_t>(period_),
                static_cast<uint8_t>(periods - 1), BinaryRepeatParams(1, 1, 1, 0, step, 0));
        }
        if (rest > 0) Add(data, data, data[count - rest], static_cast<int32_t>(rest));
    }

    // Every element of the planes' periods becomes the sum of its column: they are transposed to
    // rows of one element each, so that columns are whole blocks apart.
    __aicore__ void add_periods(const LocalTensor<float>& data, uint32_t start, uint32_t planes,
                                const LocalTensor<float>& rows) const {
        const uint32_t groups = (planes + 7) / 8, pitch = groups * kFloatsPerBlock;
        for (uint32_t g = 0; g < groups; ++g) transpose<true>(data, start, planes, rows, g, groups);
        const uint32_t row = inner_ * pitch, all = period_ * pitch;
        fold_rows(rows, 1, all, row, 0);
        for (uint32_t done = row; done < all; done *= 2) {
            Adds(rows[done], rows, 0.0f, static_cast<int32_t>(at_most(all - done, done)));
        }
        for (uint32_t g = 0; g < groups; ++g) {
            transpose<false>(data, start, planes, rows, g, groups);
        }
    }

    // The periods of eight planes, and the g-th blocks of all rows. Both halves of a period at
    // once; where it is an odd number of blocks, the one in the middle is taken twice.
    template <bool to_rows>
    __aicore__ void transpose(const LocalTensor<float>& data, uint32_t start, uint32_t planes,
                              const LocalTensor<float>& rows, uint32_t g, uint32_t groups) const {
        const uint32_t blocks = period_ / kFloatsPerBlock, repeats = (blocks + 1) / 2;
        const uint32_t half = (blocks - repeats) * kFloatsPerBlock;
        LocalTensor<float> of_planes[16], of_rows[16];
        for (uint32_t k = 0; k < 16; ++k) {
            // Those that are left repeat the first one.
            const uint32_t plane = g * 8 + (to_rows ? k % 8 : k / 2);
            const uint32_t at = place(start, plane < planes ? plane : g * 8).first;
            of_planes[k] = data[at + (to_rows ? k / 8 : k % 2) * half];
            const uint32_t row = to_rows ? k / 2 + k % 2 * half : k % 8 + k / 8 * half;
            of_rows[k] = rows[(row * groups + g) * kFloatsPerBlock];
        }
        if constexpr (to_rows) {
            transpose_blocks(of_rows, of_planes, repeats, 8 * groups, 1);
        } else {
            transpose_blocks(of_planes, of_rows, repeats, 1, 8 * groups);
        }
    }
#endif

    const uint32_t plane_, inner_, period_;
};

}  // namespace kernels
