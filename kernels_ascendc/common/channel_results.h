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
    // Overwrites these tiles, and `transposing` on Ascend 910.
    __aicore__ inline ChannelResults(const ChannelSumTiling& tiling, Element& element,
                                     ChannelPartials<kSums>& partials,
                                     const LocalTensor<float>& sums, const LocalTensor<float>& free,
                                     const LocalTensor<float>& transposing)
        : tiling_(tiling),
          element_(element),
          partials_(partials),
          sums_(sums),
          free_(free),
          transposing_(transposing) {}

    // Each core has a share of the channels of one sum, or of every sum where cores are few.
    __aicore__ inline void store() {
        const uint32_t core = GetBlockIdx(), cores = GetBlockNum();
        const bool has_all = cores < kSums;
        const uint32_t first = has_all ? 0 : core % kSums, end_sum = has_all ? kSums : first + 1;
        const uint32_t part = has_all ? core : core / kSums;
        // What a core stores begins with a line of 64 bytes.
        constexpr uint32_t kLine = 64 / sizeof(Vector);
        const Share share{(tiling_.channels + kLine - 1) / kLine,
                          has_all ? cores : (cores - first + kSums - 1) / kSums};
        const int64_t begin = share.begin(part) * kLine;
        const int64_t end = least(share.begin(part + 1) * kLine, tiling_.channels);
        const uint32_t rows = tiling_.contributions > 0 ? tiling_.contributions : 1;
        const int64_t room = tiling_.tile / (rows * tiling_.width) / kLanes * kLanes;
        const int64_t wanted = (end - begin + kLanes - 1) / kLanes * kLanes;
        const auto step = static_cast<uint32_t>(greatest(least(room, wanted), kLanes));
        if (begin < end)
            element_.load(free_, first, begin, static_cast<uint32_t>(least(step, end - begin)));
        if (tiling_.contributions > 0)
            partials_.wait_for_all_cores(sums_.template ReinterpretCast<int32_t>());
        for (uint32_t sum = first; sum < end_sum; ++sum) {
            for (int64_t at = begin; at < end; at += step) {
                const auto count = static_cast<uint32_t>(least(step, end - at));
                if (at > begin || sum > first) {
                    PipeBarrier<PIPE_ALL>();
                    element_.load(free_, sum, at, count);
                }
                add_up(sum, at, count, step);
                element_.finish(sums_, free_, sum, at, count, tiling_.contributions == 0);
            }
        }
    }

  private:
    // sums_[c] = that sum of channel at + c.
    __aicore__ inline void add_up(uint32_t sum, int64_t at, uint32_t count, uint32_t step) {
        for (uint32_t done = 0; done < tiling_.contributions;)
            done = partials_.add(sums_, done, sum, at, count, step);
        if (tiling_.contributions == 0) {
            wait_for<HardEvent::MTE2_V>();
            Duplicate(sums_, 0.0f, static_cast<int32_t>(step));
        } else if (tiling_.width > 1) {
            const uint32_t missing = round_up(count, kLanes) - count;
            if (missing > 0)
                Duplicate(sums_[count * kBlockFloats], 0.0f,
                          static_cast<int32_t>(missing * kBlockFloats));
            // What element_.load() fills is shorter.
            ChannelTiles(tiling_).sum_eights(sums_, sums_, count, free_[tiling_.tile / 2],
                                             transposing_);
        }
    }

    const ChannelSumTiling& tiling_;
    Element& element_;
    ChannelPartials<kSums>& partials_;
    const LocalTensor<float> sums_, free_, transposing_;
};

}  // namespace kernels
