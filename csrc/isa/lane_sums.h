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

    // Zeroes the sums of `channels` channels over at most `length` positions.
    void clear(int channels, int64_t length) {
        lanes_ = static_cast<int>(least(kSumLanes, length));
        pitch_ = (channels + kPairLanes - 1) / kPairLanes * kPairLanes;
        std::memset(sums_, 0, sizeof(float) * static_cast<size_t>(kSums * lanes_ * pitch_));
    }
    float* at(int sum, int lane, int channel) {
        return sums_ + (sum * lanes_ + lane) * pitch_ + channel;
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
    int pitch_ = 0;
    alignas(64) float sums_[kSums * kLanes * (kChannelTile + kPairLanes)];
};
}  // namespace
}  // namespace ascend_grad
