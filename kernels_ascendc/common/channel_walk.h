// Which lanes of a sum over channels (device/channel_sum.h) a core has, tile by tile.
#pragma once

#include "common/copy.h"
#include "device/channel_sum.h"

namespace kernels {

// An even share. Where `parts` divides several blocks of equal size, so do the shares.
struct Share {
    int64_t total, parts;

    __aicore__ inline int64_t begin(int64_t part) const { return part * total / parts; }
    __aicore__ inline int64_t part_of(int64_t item) const {
        return ((item + 1) * parts - 1) / total;
    }
};

// Neighbouring lanes that one load takes.
struct LaneRun {
    uint64_t offset;  // elements from the tensor's begin
    uint32_t begin;   // place of the first element in the tile, or before it in its margin
    uint32_t lanes;
    uint32_t length;  // of every lane but the last
    uint32_t last;
    uint32_t count;  // elements of the load from the first lane's first to the last lane's last
};

class ChannelWalk {
  public:
    __aicore__ inline ChannelWalk(const ChannelSumTiling& tiling)
        : tiling_(tiling), share_{(tiling.units + tiling.cut - 1) / tiling.cut, GetBlockNum()} {
        const int64_t core = GetBlockIdx();
        end_ = share_end_ = begin_of(core + 1);
        go_to(begin_of(core));
        first_ = unit_;
        if (done()) return;
        if (block_of(end_ - 1) == block_) {
            postpone_load();
        } else {
            postpone_blocks();
        }
    }

    __aicore__ inline bool done() const { return unit_ >= end_ && postponed_ == 0; }
    __aicore__ inline int64_t block() const { return block_; }
    __aicore__ inline bool in_last_block() const { return block_ == tiling_.blocks - 1; }
    // Lanes of (block, o).
    __aicore__ inline int64_t inner() const { return inner(block_); }
    __aicore__ inline uint32_t tail() const {
        return in_last_block() ? tiling_.last_tail : tiling_.tail;
    }
    __aicore__ inline uint32_t length() const {
        return in_last_block() ? tiling_.last_length : tiling_.length;
    }
    // Lanes of the block with channels of their own.
    __aicore__ inline int64_t block_lanes() const { return least(inner(), tiling_.slots); }
    __aicore__ inline uint32_t block_channels() const {
        const int64_t before = block_ * tiling_.block_channels;
        return static_cast<uint32_t>(least(tiling_.block_channels, tiling_.channels - before));
    }
    // Channels of a lane of CHANNEL_SUM_SPREAD that is the block's last.
    __aicore__ inline uint32_t tail_channels() const { return tail() / tiling_.spatial; }
    // How many cores before this one have lanes of the block.
    __aicore__ inline int64_t predecessors() const {
        const int64_t first = block_ * block_units(0) + (tiling_.joined ? inner() - 1 : 0);
        return GetBlockIdx() - share_.part_of(first / tiling_.cut);
    }

    // The next load of this block. Returns true where it ends the block for this core.
    __aicore__ inline bool next(LaneRun& run) {
        const int64_t lanes_per_run = inner();
        const int64_t row = at_ / lanes_per_run;
        const int64_t lane = at_ - row * lanes_per_run;
        const int64_t slot = has_own_slots() ? lane : 0;
        const int64_t most = (has_own_slots() ? tiling_.slots : tiling_.load_slots) - slot;
        const int64_t left = end_ - unit_;
        int64_t lanes = least(least(most, lanes_per_run - lane), left);
        if (tiling_.layout == CHANNEL_SUM_EVEN_ROWS) {  // in equal loads
            const int64_t loads = (left + most - 1) / most;
            lanes = (left + loads - 1) / loads;
        }
        // Nothing overlaps with what comes after a core's last load.
        if (lanes == left && postponed_ == 0 && !tiling_.joined &&
            lanes * tiling_.pitch > tiling_.whole_load)
            lanes = least(lanes, ((lanes + 1) / 2 + tiling_.cut - 1) / tiling_.cut * tiling_.cut);
        run.lanes = static_cast<uint32_t>(lanes);
        run.offset =
            block_ * tiling_.block_stride + row * tiling_.outer_stride + lane * tiling_.lane_stride;
        run.begin = tiling_.layout == CHANNEL_SUM_EVEN_ROWS
                        ? static_cast<uint32_t>((run.offset + tiling_.margin) % tiling_.period)
                        : static_cast<uint32_t>(slot * tiling_.pitch);
        run.length = length();
        run.last = lane + lanes == lanes_per_run ? tail() : run.length;
        run.count = (run.lanes - 1) * tiling_.pitch + run.last;
        move(lanes);
        if (unit_ == end_ && postponed_ > 0 && !postpones_blocks()) resume();
        return at_ == block_units(block_) || unit_ == end_;
    }
    // Whether the core has the block's last lane.
    __aicore__ inline bool block_is_complete() const {
        return block_ * block_units(0) + block_units(block_) <= share_end_;
    }
    // After next() returned true: to the block that comes next, if there is one.
    __aicore__ inline void next_block() {
        if (unit_ == end_ && postpones_blocks()) {
            resume();
        } else if (!done()) {
            ++block_;
            at_ = 0;
        }
    }

  private:
    // Lanes have channels, and places in a tile, of their own.
    __aicore__ inline bool has_own_slots() const {
        return tiling_.layout == CHANNEL_SUM_SPREAD || tiling_.layout == CHANNEL_SUM_CHANNELS;
    }

    // A first load that is shorter than the last one comes after it: nothing overlaps with the work
    // that is left then.
    __aicore__ inline void postpone_load() {
        if (!has_own_slots()) return;
        const int64_t first = (inner() - at_ % inner()) % inner();
        const int64_t last = (at_ + end_ - unit_ - 1) % inner() + 1;
        if (first >= last || first >= end_ - unit_) return;
        postponed_ = first;
        move(first);
    }
    // A last block of few lanes comes before all others, unless these are fewer: while the sums of
    // the one before are made there would be little left to load.
    __aicore__ inline void postpone_blocks() {
        const int64_t begin = block_of(end_ - 1) * block_units(0), before = begin - unit_;
        if (end_ - begin >= least(before, tiling_.few_units)) return;
        postponed_ = before;
        go_to(begin);
    }
    __aicore__ inline bool postpones_blocks() const {
        return postponed_ > 0 && block_of(first_) != block_;
    }
    __aicore__ inline void resume() {
        end_ = first_ + postponed_;
        postponed_ = 0;
        go_to(first_);
    }

    __aicore__ inline void go_to(int64_t unit) {
        unit_ = unit;
        block_ = block_of(unit);
        at_ = unit - block_ * block_units(0);
    }
    __aicore__ inline void move(int64_t units) {
        unit_ += units;
        at_ += units;
    }

    __aicore__ inline int64_t inner(int64_t block) const {
        return block == tiling_.blocks - 1 ? tiling_.last_inner : tiling_.inner;
    }
    __aicore__ inline int64_t block_units(int64_t block) const {
        return tiling_.outer * inner(block);
    }
    __aicore__ inline int64_t block_of(int64_t unit) const {
        return tiling_.blocks > 1 ? least(unit / block_units(0), tiling_.blocks - 1) : 0;
    }
    // The first unit of that core.
    __aicore__ inline int64_t begin_of(int64_t core) const {
        const int64_t unit = least(share_.begin(core) * tiling_.cut, tiling_.units);
        if (!tiling_.joined) return unit;
        const int64_t block = block_of(unit);
        return unit - (unit - block * block_units(0)) % inner(block);
    }

    const ChannelSumTiling& tiling_;
    Share share_;
    int64_t unit_, end_;         // of this core, what is left before what is postponed
    int64_t first_, share_end_;  // of all that it has
    int64_t postponed_ = 0;      // units from first_ on
    int64_t block_, at_;         // at_: units from the block's first
};

}  // namespace kernels
