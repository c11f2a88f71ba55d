// Sums along an axis of which neighbouring elements are far apart in memory.
#pragma once

#include "core/channel_sum.h"
#include "isa/pair.h"

namespace ascend_grad {
namespace {

// Sixteen lane sums for each of up to kMost neighbouring channels. Those of one lane lie
// pair by pair of vectors, the sums of a pair together, so that whoever walks the channels walks
// them in order of memory. Of joined lanes the channels of one follow those of the one before.
template <int kSums, int64_t kMost = kChannelTile>
class LaneSums {
  public:
    static constexpr int64_t kMaxChannels = kMost;

    // Zeroes the sums of `channels` channels over at most `length` positions.
    void clear(int channels, int64_t length, bool joined = false) {
        lanes_ = static_cast<int>(least(kSumLanes, length));
        channels_ = channels;
        whole_ = (channels + kPairLanes - 1) / kPairLanes * kPairLanes;
        pitch_ = kSums * (joined ? channels : whole_);
        std::memset(sums_, 0, sizeof(float) * static_cast<size_t>(kSums * lanes_ * whole_));
    }
    // The number of `channel`, among those of joined lanes, is a multiple of kPairLanes.
    float* at(int sum, int lane, int channel) {
        return sums_ + lane * pitch_ + kSums * channel + sum * kPairLanes;
    }
    // The fixed tree over lanes; the result stands in lane 0.
    void add_lanes() {
        if (pitch_ != kSums * whole_) part_lanes();
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
        constexpr size_t kSize = sizeof(float);
        int c = 0;
        for (; c + kPairLanes <= channels; c += kPairLanes)
            std::memcpy(to + c, at(sum, 0, c), kSize * kPairLanes);
        if (c < channels)
            std::memcpy(to + c, at(sum, 0, c), kSize * static_cast<size_t>(channels - c));
    }

  private:
    // From the last lane on: what a lane is moved to does not reach those before it. Whole pairs
    // are copied, with what is around the lane.
    void part_lanes() {
        constexpr size_t kPairBytes = kPairLanes * sizeof(float);
        float row[kSums][kPairLanes + kMaxChannels + kPairLanes] = {};
        for (int lane = lanes_ - 1; lane >= 0; --lane) {
            const int first = lane * channels_;
            const int before = first % kPairLanes;
            for (int c = -before; c < channels_; c += kPairLanes) {
                for (int k = 0; k < kSums; ++k)
                    std::memcpy(row[k] + kPairLanes + c, at(k, 0, first + c), kPairBytes);
            }
            for (int c = 0; c < channels_; c += kPairLanes) {
                for (int k = 0; k < kSums; ++k)
                    std::memcpy(at(k, 0, lane * whole_ + c), row[k] + kPairLanes + c, kPairBytes);
            }
        }
        pitch_ = kSums * whole_;
    }

    int lanes_ = 0;
    int channels_ = 0;
    int whole_ = 0;  // channels, rounded up to pairs of vectors
    int pitch_ = 0;
    alignas(64) float sums_[kSums * kLanes * (kMost + kPairLanes)];
};
}  // namespace
}  // namespace ascend_grad
