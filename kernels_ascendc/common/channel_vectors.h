// Vectors with a value per channel, block by block (device/channel_sum.h).
#pragma once

#include "common/channel_tiles.h"
#include "common/channel_walk.h"

namespace kernels {

template <typename Vector>
class ChannelVectors {
    static constexpr bool kWidens = !IsSameType<Vector, float>::value;
#if __CCE_AICORE__ == 100
    static constexpr uint32_t kBuffers = 1;  // there are few events
#else
    static constexpr uint32_t kBuffers = 2;
#endif

  public:
    __aicore__ inline ChannelVectors(TPipe& pipe, const ChannelSumTiling& tiling, GM_ADDR vector)
        : tiling_(tiling) {
        vector_.SetGlobalBuffer((__gm__ Vector*)vector);
        const uint32_t elements = kBuffers * tiling.vector_space;
        pipe.InitBuffer(floats_, elements * sizeof(float));
        if (kWidens) pipe.InitBuffer(narrow_, elements * sizeof(Vector));
    }

    // Comes before any other call, end() after them.
    __aicore__ inline void begin() {
        // Instructions also work on what lies between and behind the data.
        const auto elements = static_cast<int32_t>(kBuffers * tiling_.vector_space);
        Duplicate(floats_.template Get<float>(), 0.0f, elements);
        if constexpr (kWidens)
            Duplicate(narrow_.template Get<half>(), static_cast<half>(0.0f), elements);
        for (uint32_t i = 0; i < kBuffers; ++i) {
            is_free_[i] = new_event<HardEvent::V_MTE2>();
            is_loaded_[i] = new_event<HardEvent::MTE2_V>();
            SetFlag<HardEvent::V_MTE2>(is_free_[i]);
        }
    }
    __aicore__ inline void end() {
        for (uint32_t i = 0; i < kBuffers; ++i) {
            end_event<HardEvent::V_MTE2>(is_free_[i]);
            release_event<HardEvent::MTE2_V>(is_loaded_[i]);
        }
    }

    // Elements from lane to lane of CHANNEL_SUM_SPREAD.
    __aicore__ inline uint32_t pitch() const {
        return round_up(tiling_.group, ChannelTiles::kVectorStep<Vector>);
    }

    // The values of the walk's block.
    __aicore__ inline void load(const ChannelWalk& walk) {
        const LocalTensor<Vector> to = loaded();
        WaitFlag<HardEvent::V_MTE2>(is_free_[parity_]);
        const GlobalTensor<Vector> from = vector_[walk.block() * tiling_.block_channels];
        const uint32_t group = tiling_.group;
        if (tiling_.layout == CHANNEL_SUM_SPREAD && group != pitch()) {
            const uint32_t whole = static_cast<uint32_t>(walk.block_lanes()) - 1;
            if (whole > 0) load_rows(to, from, whole, group, group, pitch());
            kernels::load(to[whole * pitch()], from[whole * group], walk.tail_channels());
        } else {
            kernels::load(to, from, walk.block_channels());
        }
        SetFlag<HardEvent::MTE2_V>(is_loaded_[parity_]);
    }

    // What load() loaded, until free(). `last_channels`: of the last lane.
    __aicore__ inline LocalTensor<float> take(uint32_t lanes, uint32_t last_channels) {
        WaitFlag<HardEvent::MTE2_V>(is_loaded_[parity_]);
        clear_behind(lanes, last_channels);
        if constexpr (kWidens) Cast(floats(), loaded(), RoundMode::CAST_NONE, tiling_.vector_space);
        return floats();
    }
    __aicore__ inline void free() {
        SetFlag<HardEvent::V_MTE2>(is_free_[parity_]);
        parity_ = (parity_ + 1) % kBuffers;
    }

  private:
    __aicore__ inline LocalTensor<float> floats() {
        return floats_.template Get<float>()[parity_ * tiling_.vector_space];
    }
    __aicore__ inline LocalTensor<Vector> loaded() {
        if constexpr (kWidens) {
            return narrow_.template Get<Vector>()[parity_ * tiling_.vector_space];
        } else {
            return floats();
        }
    }

    // Zeros behind the channels that were loaded, up to the end of their blocks, where those are
    // transposed or widened to blocks without a channel.
    __aicore__ inline void clear_behind([[maybe_unused]] uint32_t lanes,
                                        [[maybe_unused]] uint32_t last_channels) {
        if constexpr (kWidens || __CCE_AICORE__ == 100) {
            const LocalTensor<Vector> vector = loaded();
            if (tiling_.layout == CHANNEL_SUM_SPREAD) {
                for (uint32_t lane = 0; kWidens && lane + 1 < lanes; ++lane)
                    clear_rest(vector[lane * pitch()], tiling_.group);
                clear_rest(vector[(lanes - 1) * pitch()], last_channels);
            } else {
                clear_rest(vector, last_channels);
            }
        }
    }

    const ChannelSumTiling& tiling_;
    GlobalTensor<Vector> vector_;
    TBuf<TPosition::VECCALC> floats_, narrow_;
    event_t is_free_[kBuffers], is_loaded_[kBuffers];
    uint32_t parity_ = 0;
};

}  // namespace kernels
