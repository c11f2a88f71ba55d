// Sums along an axis of which neighbouring elements are far apart in memory.
#pragma once

#include "core/channel_sum.h"
#include "isa/pair.h"
#include "isa/tree_sums.h"

namespace ascend_grad {
namespace {

// Sixteen lane sums for each of up to kChannelTile neighbouring channels. Those of a run, the
// channels of one lane or of several, one after the other, lie pair by pair of vectors, the sums of
// a pair together, so that whoever walks the channels walks them in order of memory. A run's first
// `head` elements may be a pair of their own, those after them begin with the next one.
template <int kSums>
class LaneSums {
  public:
    static constexpr int64_t kMaxChannels = kChannelTile;

    // Begins sums of `channels` channels. A run of several lanes is all sixteen or makes whole
    // pairs; where runs have heads, it is all sixteen, or channels make whole pairs.
    void begin(int channels, int lanes_per_run, int head) {
        channels_ = channels;
        whole_ = whole_pairs(channels);
        lanes_per_run_ = lanes_per_run;
        head_ = head;
        pitch_ = kSums * (whole_pairs(lanes_per_run * channels) + (head > 0 ? kPairLanes : 0));
        lanes_ = 0;
    }
    // What is to be added to the elements of the run of `lane` and `lanes` - 1 others, from the
    // first one on; after the head, from sums + kSums * (kPairLanes - head) on. What is there
    // counts only if `continues`: a block's first addition to a run has all lanes of it that any
    // has, and so are those of earlier runs.
    struct Run {
        float* sums;
        bool continues;
    };
    Run run(int lane, int lanes) {
        const bool continues = lane < lanes_;
        if (!continues) lanes_ = lane + lanes;
        return {at_run(lane / lanes_per_run_), continues};
    }

    // Adds the lanes up, by the fixed tree: to[k] gets one of the sums of every channel.
    void add_lanes(float* const (&to)[kSums]) {
        if (head_ > 0 || (lanes_per_run_ > 1 && channels_ != whole_)) part_lanes();
        pitch_ = kSums * whole_;
        with_constant(lanes_ == kLanes, [&](auto all) {
            for (int c = 0; c < channels_; c += kPairLanes) {
                AG_EACH (k, kSums) {
                    const LanePair sum = add_pairs(pair(c, k), all ? kLanes : lanes_);
                    if (c + kPairLanes <= channels_) {
                        store_pair(to[k] + c, sum);
                    } else {
                        store_first_pair(to[k] + c, sum, channels_ - c);
                    }
                }
            }
        });
    }

  private:
    static constexpr size_t kPairBytes = kPairLanes * sizeof(float);

    float* at_run(int number) { return sums_ + number * pitch_; }
    static int whole_pairs(int n) { return (n + kPairLanes - 1) / kPairLanes * kPairLanes; }
    // Those of elements that are a multiple of kPairLanes from the first one.
    float* pair(int element, int sum) { return sums_ + kSums * element + sum * kPairLanes; }

    // Of every lane, one from the next by pitch_.
    AG_INLINE LanePair add_pairs(const float* first, int lanes) const {
        const auto add_half = [&](int half) AG_INLINE_LAMBDA {
            return add_lines<1>(0, lanes, [&](int lane) AG_INLINE_LAMBDA {
                return load(first + half * kLanes + lane * pitch_);
            });
        };
        return {add_half(0), add_half(1)};
    }

    using Row = float[kPairLanes + kMaxChannels + kPairLanes];
    // Runs of several lanes, and those with heads, become runs of one lane without. In an order in
    // which what a lane is moved to does not reach those that are still to be moved: from the last
    // one down, but for the first ones after a head, which move towards the begin.
    void part_lanes() {
        const int gap = whole_ - channels_, shift = head_ > 0 ? kPairLanes - head_ : 0;
        Row row[kSums];
        // What lies behind the last channel is added, but not stored.
        AG_EACH (k, kSums) std::fill_n(row[k] + whole_, kPairLanes, 0.0f);
        int lane = lanes_;
        for (; lane > 0 && (lane - 1) * gap >= shift; --lane) part_lane(lane - 1, shift, row);
        for (int first = 0; first < lane; ++first) part_lane(first, shift, row);
    }
    // Whole pairs are copied, with what is around the lane, whose elements are `shift` places later
    // than without a head; those of the head itself are not.
    void part_lane(int lane, int shift, Row (&row)[kSums]) {
        const float* const of_run = at_run(lane / lanes_per_run_);
        const int first = lane % lanes_per_run_ * channels_ + shift;
        const int before = first % kPairLanes;
        for (int c = -before; c < channels_; c += kPairLanes) {
            AG_EACH (k, kSums) {
                std::memcpy(row[k] + kPairLanes + c, of_run + kSums * (first + c) + k * kPairLanes,
                            kPairBytes);
            }
        }
        if (shift > 0 && lane % lanes_per_run_ == 0) {
            AG_EACH (k, kSums) std::copy_n(of_run + k * kPairLanes, head_, row[k] + kPairLanes);
        }
        for (int c = 0; c < channels_; c += kPairLanes) {
            AG_EACH (k, kSums)
                std::memcpy(pair(lane * whole_ + c, k), row[k] + kPairLanes + c, kPairBytes);
        }
    }

    int lanes_ = 0;
    int channels_ = 0;
    int whole_ = 0;  // channels, rounded up to pairs of vectors
    int lanes_per_run_ = 1;
    int head_ = 0;
    int pitch_ = 0;
    alignas(64) float sums_[kSums * kLanes * (kMaxChannels + kPairLanes)];
};
}  // namespace
}  // namespace ascend_grad
