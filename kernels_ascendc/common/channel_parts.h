// What a kernel that sums over channels works on at once of a load.
#pragma once

#include "common/channel_walk.h"

namespace kernels {

// Elements of a load from `from` on, in the tile from `at` on.
struct ChannelPart {
    uint32_t from, at, count;
};

class ChannelParts {
  public:
    // `block`: elements of an input's block.
    __aicore__ inline ChannelParts(const ChannelSumTiling& tiling, uint32_t block)
        : tiling_(tiling), block_(block) {}

    // Up to the tile's end, and what work tiles hold. No elements after a load's end.
    __aicore__ inline ChannelPart first(const LaneRun& run) const {
        return part_of(run, 0, run.begin);
    }
    __aicore__ inline ChannelPart next(const LaneRun& run, const ChannelPart& part) const {
        const uint32_t at = part.at + part.count;
        return part_of(run, part.from + part.count, at < tiling_.period ? at : at - tiling_.period);
    }
    // Whether the part after this one is in the same tile.
    __aicore__ inline bool goes_on(const ChannelPart& part) const {
        return part.at + part.count < tiling_.period;
    }
    // The place in the tile from which the first load of a sum may leave it as it was, as it does
    // before run.begin. Whole blocks of floats; a part that ends behind that sets what it has.
    __aicore__ inline uint32_t unset_from(const LaneRun& run) const {
        const uint32_t end = run.begin + run.count;
        return (end < tiling_.period ? end : tiling_.period) / kFloatsPerBlock * kFloatsPerBlock;
    }

  private:
    __aicore__ inline ChannelPart part_of(const LaneRun& run, uint32_t from, uint32_t at) const {
        const uint32_t left = run.count - from, room = room_of(run, from, at);
        const uint32_t most = room < tiling_.work ? room : tiling_.work;
        return {from, at, left < most ? left : most};
    }
    // Elements from there to the tile's end, or to where its last block begins which the load goes
    // on in.
    __aicore__ inline uint32_t room_of(const LaneRun& run, uint32_t from, uint32_t at) const {
        const uint32_t room = tiling_.margin + tiling_.period - at, rest = (from + room) % block_;
        return from + room < run.count ? room - rest : room;
    }

    const ChannelSumTiling& tiling_;
    const uint32_t block_;
};

}  // namespace kernels
