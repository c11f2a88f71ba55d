// Partial sums over channels in the workspace: what each core contributes to a block of channels,
// which are added in the order of the cores.
#pragma once

#include "common/channel_tiles.h"
#include "common/channel_walk.h"

namespace kernels {

template <uint32_t kSums>
class ChannelPartials {
  public:
    __aicore__ inline ChannelPartials(const ChannelSumTiling& tiling, GM_ADDR workspace)
        : tiling_(tiling) {
        barrier_.SetGlobalBuffer((__gm__ int32_t*)workspace);
        partials_.SetGlobalBuffer((__gm__ float*)(workspace + tiling.partials));
    }

    // This core's sums of the walk's block, from the begin-th up to the end-th.
    __aicore__ inline void store(const LocalTensor<float>& sums, uint32_t begin, uint32_t end,
                                 const ChannelWalk& walk) {
        const int64_t contribution = walk.predecessors();
        const int64_t channel = walk.block() * tiling_.block_channels;
        const uint32_t channels = walk.block_channels();
        const uint32_t group = tiling_.group, pitch = round_up(group, ChannelTiles::kSumStep);
        const bool spread = tiling_.layout == CHANNEL_SUM_SPREAD && group != pitch;
#if __CCE_AICORE__ == 220
        if (!spread) {
            store_rows(partial(contribution, begin, channel), sums[begin * tiling_.sum_space],
                       end - begin, channels * tiling_.width,
                       static_cast<uint64_t>(tiling_.partial_pitch), tiling_.sum_space, sums);
            return;
        }
#else
        if (spread) wait_for<HardEvent::V_S>();
#endif
        for (uint32_t i = begin; i < end; ++i) {
            const LocalTensor<float> from = sums[i * tiling_.sum_space];
            const GlobalTensor<float> to = partial(contribution, i, channel);
#if __CCE_AICORE__ == 220
            const uint32_t whole = channels / group, rest = channels % group;
            if (whole > 0) store_rows(to, from, whole, group, group, pitch, from);
            if (rest > 0) kernels::store(to[whole * group], from[whole * pitch], rest, from);
#else
            if (spread) {
                for (uint32_t c = group; c < channels; ++c)
                    from.SetValue(c, from.GetValue(c / group * pitch + c % group));
                wait_for<HardEvent::S_MTE3>();
            }
            store_packed(to, from, channels * tiling_.width);
#endif
        }
    }

    // The same sums of contributions from `contribution` on, which no core makes to this block.
    __aicore__ inline void store_zeros(const LocalTensor<float>& zeros, uint32_t begin,
                                       uint32_t end, const ChannelWalk& walk,
                                       int64_t contribution) {
        if (contribution >= tiling_.contributions) return;
        const int64_t channel = walk.block() * tiling_.block_channels;
        for (; contribution < tiling_.contributions; ++contribution) {
            for (uint32_t i = begin; i < end; ++i) {
                store_packed(partial(contribution, i, channel), zeros,
                             walk.block_channels() * tiling_.width);
            }
        }
    }

#if __CCE_AICORE__ == 220
    static constexpr bool kEach = true;  // sums are waited for one by one
#else
    static constexpr bool kEach = false;
#endif
    // This core has stored all its sums up to the end-th; wait_for_all_cores() follows.
    __aicore__ inline void arrive([[maybe_unused]] uint32_t end) {
#if __CCE_AICORE__ == 220
        for (; arrived_ < end; ++arrived_) {
            is_stored_[arrived_] = new_event<HardEvent::MTE3_MTE2>();
            SetFlag<HardEvent::MTE3_MTE2>(is_stored_[arrived_]);
            CrossCoreSetFlag<0, PIPE_MTE3>(static_cast<uint16_t>(arrived_));
        }
#endif
    }
    // For that sum, or where not kEach for all. `counts` has a block per core, for products without
    // a barrier in hardware.
    __aicore__ inline void wait_for_all_cores([[maybe_unused]] uint32_t sum,
                                              [[maybe_unused]] const LocalTensor<int32_t>& counts) {
#if __CCE_AICORE__ == 220
        CrossCoreWaitFlag(static_cast<uint16_t>(sum));
        end_event<HardEvent::MTE3_MTE2>(is_stored_[sum]);
#else
        PipeBarrier<PIPE_ALL>();
        if (GetBlockNum() > 1) SyncAll(barrier_, counts);
#endif
    }

    // rows[0..) = that sum so far and contributions from `done` on, for `count` channels from
    // `channel` on; returns how many are done. They lie [channel][width], `step` channels apart.
    __aicore__ inline uint32_t add(const LocalTensor<float>& rows, uint32_t done, uint32_t sum,
                                   int64_t channel, uint32_t count, uint32_t step) {
        const uint32_t pitch = step * tiling_.width;
        // The sums of those before stay in the first row.
        const uint32_t before = done > 0 ? 1 : 0;
        const uint32_t most = tiling_.tile / pitch - before;
        const uint32_t left = tiling_.contributions - done;
        const uint32_t taken = left < most ? left : most;
        if (before > 0) wait_for<HardEvent::V_MTE2>();
        load_rows(rows[before * pitch], partial(done, sum, channel), taken, count * tiling_.width,
                  static_cast<uint64_t>(kSums * tiling_.partial_pitch), pitch);
        wait_for<HardEvent::MTE2_V>();
        fold(rows, (before + taken) * pitch, pitch);
        return done + taken;
    }

  private:
    __aicore__ inline GlobalTensor<float> partial(int64_t contribution, uint32_t sum,
                                                  int64_t channel) {
        return partials_[(contribution * kSums + sum) * tiling_.partial_pitch +
                         channel * tiling_.width];
    }

    __aicore__ inline void store_packed(const GlobalTensor<float>& to,
                                        const LocalTensor<float>& from, uint32_t count) {
#if __CCE_AICORE__ == 220
        kernels::store(to, from, count, from);
#else
        DataCopy(to, from, round_up(count, kBlock<float>));  // the area ends with whole blocks
#endif
    }

    const ChannelSumTiling& tiling_;
    event_t is_stored_[kSums];
    uint32_t arrived_ = 0;  // sums
    GlobalTensor<int32_t> barrier_;
    GlobalTensor<float> partials_;
};

}  // namespace kernels
