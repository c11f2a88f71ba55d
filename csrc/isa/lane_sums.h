// Sums along an axis of which neighbouring elements are far apart in memory.
#pragma once

#include "core/channel_sum.h"
#include "isa/pair.h"

namespace ascend_grad {
namespace {

// Sixteen lane sums for each of up to kMaxChannels neighbouring channels.
template <int kSums>
class LaneSums {
  public:
    static constexpr int64_t kMaxChannels = kChannelTile;

    // Zeroes the sums of `channels` channels over at most `length` positions. `apart`: the sums of
    // one kind follow those of the other, instead of taking turns lane by lane.
    void clear(int channels, int64_t length, bool apart = false) {
        lanes_ = static_cast<int>(least(kSumLanes, length));
        pitch_ = (channels + kPairLanes - 1) / kPairLanes * kPairLanes;
        to_next_sum_ = apart ? lanes_ * pitch_ : pitch_;
        to_next_lane_ = apart ? pitch_ : kSums * pitch_;
        std::memset(sums_, 0, sizeof(float) * static_cast<size_t>(kSums * lanes_ * pitch_));
    }
    float* at(int sum, int lane, int channel) {
        return sums_ + sum * to_next_sum_ + lane * to_next_lane_ + channel;
    }
    // The fixed tree over lanes; the result stands in lane 0.
    void add_lanes() {
        for (int k = 0; k < kSums; ++k) {
            for (int half = kLanes / 2; half > 0; half /= 2) {
                for (int j = 0; j < half && j + half < lanes_; ++j) {
                    for (int c = 0; c < pitch_; c += kLanes) {
                        float* to = at(k, j, c);
                        store_raw(to, load(to) + load(at(k, j + half, c)));
                    }
                }
            }
        }
    }

  private:
    int lanes_ = 0;
    int pitch_ = 0, to_next_sum_ = 0, to_next_lane_ = 0;
    alignas(64) float sums_[kSums * kLanes * (kChannelTile + kPairLanes)];
};
}  // namespace
}  // namespace ascend_grad
