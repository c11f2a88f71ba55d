// Which lanes a tensor is cut into whose channels are summed up.
#pragma once

#include <numeric>

#include "core/integers.h"
#include "device/channel_sum_tiling.h"
#include "device/costs.h"

namespace ascend_grad::device {

constexpr int64_t kLanes = 16;
constexpr int64_t kFloatsOfBlock = 8;
constexpr double kCopyBytes = kCopyCycles * kSharedRate;  // that take as long as its start
constexpr int64_t kTile = 4096;                           // elements that keep the vector unit busy
constexpr int64_t kLoads = 4;    // of a core, at least: they overlap with its work
constexpr int64_t kSlack = 64;   // elements that instructions may touch behind a tile
constexpr int64_t kStretch = 9;  // elements by which a lane of joined rows may be longer

// The smallest f for which f * value is a multiple of `multiple`.
inline int64_t factor_to(int64_t value, int64_t multiple) {
    return multiple / std::gcd(value, multiple);
}

// As many of `most` lanes that begin `stride` bytes apart as end evenly, or at least with a block.
inline int64_t whole_multiple(int64_t most, int64_t stride) {
    for (int64_t bytes : {kEvenBytes, kBlockBytes}) {
        const int64_t lanes = factor_to(stride, bytes);
        if (lanes <= most) return most / lanes * lanes;
    }
    return most;
}

// Facts that the choice of lanes depends on.
struct ChannelLimits {
    int64_t tile;     // elements of a tile
    int64_t turned;   // elements of a lane that instructions transpose at a time
    int64_t aligned;  // distance of lanes that have gaps is a multiple of that
    int64_t element;  // bytes
    int64_t cores;
    int64_t enough;      // of them, to move what global memory delivers
    int64_t sums;        // of a channel
    int64_t exchanged;   // bytes that take as long as exchanging the sums of a column
    bool copies_bytes;   // any number of them, not only blocks of 32
    bool writes_blocks;  // results are stored as such blocks
    bool flat;  // and lanes of whole channels would leave one core, or gaps to store around
};

inline uint32_t to_u32(int64_t value) {
    return static_cast<uint32_t>(value);
}

// Whether adding up so many channels of CHANNEL_SUM_CHANNELS one by one takes longer than
// transposing them: cycles for each, for each sixteen, and for each element of those.
bool pays_turning(int64_t channels, int64_t length);

// Which elements share a block with the channel before, of sixteen channels of `length` elements
// without gaps: ChannelSumTiling::before.
inline void set_shared_blocks(int64_t length, ChannelSumTiling& t) {
    t.before[0] = t.before[1] = 0;
    for (int64_t bit = 0; bit < 2 * 64; ++bit)
        t.before[bit / 64] |= uint64_t{bit / kLanes < bit % kLanes * length % kFloatsOfBlock}
                              << bit % 64;
}

// Bytes that take as long as a row (S = 1) by blocks of so many columns, or loaded as part of a run
// in loads of so many bytes by so many cores.
double row_cost(const ChannelShape& shape, int64_t columns, const ChannelLimits& limits);
double even_row_cost(const ChannelShape& shape, int64_t load, int64_t cores,
                     const ChannelLimits& limits);

// Which number of cores gets through so many loads of joined channels sooner.
int64_t joined_cores(int64_t loads, int64_t bytes, const ChannelLimits& limits);

// Sets what lanes are, and how many a tile has.
void choose_lanes(const ChannelShape& shape, const ChannelLimits& limits, ChannelSumTiling& t);

}  // namespace ascend_grad::device
