// The end of a sum over channels: the partial sums of all cores added, and results stored.
//
// Element, a class of the operator, has
//   Vector, of vectors with a value per channel; kSums
//   void load(free, sum, channel, count)  what finish() needs of `count` channels for that sum
//   void finish(sums, free, sum, channel, count, empty)  stores the results that come from these
//       sums; `empty`: they are over nothing; `free` holds what load() put there
#pragma once

#include "common/channel_partials.h"

namespace kernels {

template <typename Element>
class ChannelResults {
    using Vector = typename Element::Vector;
    static constexpr uint32_t kSums = Element::kSums;

  public:
    // Overwrites these tiles, of `sums` one for each, and `transposing` on Ascend 910.
    __aicore__ inline ChannelResults(const ChannelSumTiling& tiling, Element& element,
                                     ChannelPartials<kSums>& partials,
                                     const LocalTensor<float>* sums, const LocalTensor<float>& free,
                                     const LocalTensor<float>& transposing)
        : tiling_(tiling),
          element_(element),
          partials_(partials),
          sums_(sums),
          free_(free),
          transposing_(transposing) {}

    // Each core has a share of the channels of one sum, or of every sum where cores are few or sums
    // are waited for one by one: the first ones are added up while the others are waited for. What
    // is loaded at first lies in one place: an Element loads for one of its sums only, and finish()
    // of those before leaves it alone.
    __aicore__ inline void store() {
        constexpr bool kEach = ChannelPartials<kSums>::kEach;
        const uint32_t core = GetBlockIdx(), cores = GetBlockNum();
        const bool has_all = kEach || cores < kSums;
        const uint32_t first = has_all ? 0 : core % kSums, end_sum = has_all ? kSums : first + 1;
        const uint32_t rows = tiling_.contributions > 0 ? tiling_.contributions : 1;
        const int64_t room = tiling_.tile / (rows * tiling_.width) / kLanes * kLanes;
        // What a core stores begins with a line of 64 bytes.
        constexpr uint32_t kLine = 64 / sizeof(Vector);
        int64_t begins[kSums], ends[kSums];
        uint32_t steps[kSums];
        for (uint32_t sum = first; sum < end_sum; ++sum) {
            const Share share{(tiling_.channels + kLine - 1) / kLine,
                              has_all ? cores : (cores - first + kSums - 1) / kSums};
            // In reverse, as cores with more lanes than others should not have more of this as
            // well; and of few channels no core has several sums.
            const uint32_t part = has_all ? (cores - 1 - core + sum) % cores : core / kSums;
            const int64_t begin = share.begin(part) * kLine;
            const int64_t end = least(share.begin(part + 1) * kLine, tiling_.channels);
            const int64_t wanted = (end - begin + kLanes - 1) / kLanes * kLanes;
            begins[sum] = begin;
            ends[sum] = end;
            steps[sum] = static_cast<uint32_t>(greatest(least(room, wanted), kLanes));
            if (begin < end && (kEach || sum == first))
                element_.load(free_, sum, begin,
                              static_cast<uint32_t>(least(steps[sum], end - begin)));
        }
        for (uint32_t sum = first; sum < end_sum; ++sum) {
            if (tiling_.contributions > 0 && (kEach || sum == first))
                partials_.wait_for_all_cores(sum, sums_[0].template ReinterpretCast<int32_t>());
            for (int64_t at = begins[sum]; at < ends[sum]; at += steps[sum]) {
                const auto count = static_cast<uint32_t>(least(steps[sum], ends[sum] - at));
                if (at > begins[sum] || (!kEach && sum > first)) {
                    PipeBarrier<PIPE_ALL>();
                    element_.load(free_, sum, at, count);
                }
                add_up(sum, at, count, steps[sum]);
                element_.finish(sums_[sum], free_, sum, at, count, tiling_.contributions == 0);
            }
        }
    }

  private:
    // sums_[sum][c] = that sum of channel at + c.
    __aicore__ inline void add_up(uint32_t sum, int64_t at, uint32_t count, uint32_t step) {
        const LocalTensor<float>& sums = sums_[sum];
        for (uint32_t done = 0; done < tiling_.contributions;)
            done = partials_.add(sums, done, sum, at, count, step);
        if (tiling_.contributions == 0) {
            wait_for<HardEvent::MTE2_V>();
            Duplicate(sums, 0.0f, static_cast<int32_t>(step));
        } else if (tiling_.width > 1) {
            const uint32_t missing = round_up(count, kLanes) - count;
            if (missing > 0)
                Duplicate(sums[count * kFloatsPerBlock], 0.0f,
                          static_cast<int32_t>(missing * kFloatsPerBlock));
            // What element_.load() fills is shorter.
            ChannelTiles(tiling_).sum_eights(sums, sums, count, free_[tiling_.tile / 2],
                                             transposing_);
        }
    }

    const ChannelSumTiling& tiling_;
    Element& element_;
    ChannelPartials<kSums>& partials_;
    const LocalTensor<float>* sums_;
    const LocalTensor<float> free_, transposing_;
};

}  // namespace kernels
