// Sums along an axis of which neighbouring elements are far apart in memory.
#pragma once

#include "core/channel_sum.h"
#include "isa/pair.h"

namespace ascend_grad {
namespace {

// Sixteen lane sums for each of up to kMaxChannels neighbouring channels. Those of one lane lie
// pair by pair of vectors, the sums of a pair together, so that whoever walks the channels walks
// them in order of memory.
template <int kSums>
class LaneSums {
  public:
    static constexpr int64_t kMaxChannels = kChannelTile;
    static_assert(kWholeChannels == kPairLanes, "so many channels leave no gap between lanes");

    // Zeroes the sums of `channels` channels over at most `length` positions.
    void clear(int channels, int64_t length) {
        lanes_ = static_cast<int>(least(kSumLanes, length));
        pitch_ = kSums * ((channels + kPairLanes - 1) / kPairLanes * kPairLanes);
        std::memset(sums_, 0, sizeof(float) * static_cast<size_t>(lanes_ * pitch_));
    }
    // `channel` is a multiple of kPairLanes.
    float* at(int sum, int lane, int channel) {
        return sums_ + lane * pitch_ + kSums * channel + sum * kPairLanes;
    }
    // The fixed tree over lanes; the result stands in lane 0.
    void add_lanes() {
        for (int half = kLanes / 2; half > 0; half /= 2) {
            for (int j = 0; j < half && j + half < lanes_; ++j) {
                float* to = sums_ + j * pitch_;
                const float* from = to + half * pitch_;
                for (int i = 0; i < pitch_; i += kLanes)
                    store_raw(to + i, load(to + i) + load(from + i));
            }
        }
    }
    // One sum of the first `channels` channels.
    void copy(int sum, int channels, float* to) {
        for (int c = 0; c < channels; c += kPairLanes) {
            const int n = channels - c < kPairLanes ? channels - c : kPairLanes;
            std::memcpy(to + c, at(sum, 0, c), sizeof(float) * static_cast<size_t>(n));
        }
    }

  private:
    int lanes_ = 0;
    int pitch_ = 0;
    alignas(64) float sums_[kSums * kLanes * (kChannelTile + kPairLanes)];
};
}  // namespace
}  // namespace ascend_grad
