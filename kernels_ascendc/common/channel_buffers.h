// Input buffers of a sum over channels (device/channel_sum.h), in turn: what was loaded is worked
// on there, and stored from there where there are results.
#pragma once

#include "common/channel_lanes.h"

namespace kernels {

template <uint32_t bytes>
struct BitsOf {
    using Type = uint16_t;
};
template <>
struct BitsOf<4> {
    using Type = uint32_t;
};

// kWrites: there is a result, in place of the second input; kSplits: the first input may be worked
// on before the second is there.
template <typename T, bool kWrites, bool kSplits>
class ChannelBuffers {
    static constexpr uint32_t kMaxParts = 3;

  public:
    struct Load {
        LaneRun run;
        LocalTensor<T> first, second;
        LocalTensor<T> inputs;
        uint32_t parts, ends[kMaxParts];  // of the second input, elements
    };

    __aicore__ inline ChannelBuffers(TPipe& pipe, const ChannelSumTiling& tiling, GM_ADDR first,
                                     GM_ADDR second, GM_ADDR result)
        : count_(tiling.input_buffers), lanes_(tiling, first, second, result) {
        pipe.InitBuffer(inputs_, static_cast<uint8_t>(count_),
                        ChannelLanes<T>::input_bytes(tiling.load));
        pipe.InitBuffer(tail_, ChannelLanes<T>::kTailBytes);
#if __CCE_AICORE__ == 220
        if (kWrites) pipe.InitBuffer(bits_, round_up(tiling.load / 8, kBlockBytes));
#endif
    }

    // Comes before any other call, end() after them.
    __aicore__ inline void begin() {
        for (uint32_t i = 0; kWrites && i < count_; ++i) {
            is_worked_on_[i] = new_event<HardEvent::V_MTE3>();
            is_stored_[i] = new_event<HardEvent::MTE3_MTE2>();
            SetFlag<HardEvent::MTE3_MTE2>(is_stored_[i]);
        }
        if (kSplits) first_is_loaded_ = new_event<HardEvent::MTE2_V>();
        for (uint32_t i = 0; kSplits && i + 1 < kMaxParts; ++i)
            part_is_loaded_[i] = new_event<HardEvent::MTE2_V>();
#if __CCE_AICORE__ == 220
        if (kWrites) {
            const LocalTensor<Bits> bits = bits_.template Get<Bits>();
            Duplicate(bits, kAll, static_cast<int32_t>(bits.GetSize()));
        }
#endif
    }
    __aicore__ inline void end() {
        for (uint32_t i = 0; kWrites && i < count_; ++i) {
            release_event<HardEvent::V_MTE3>(is_worked_on_[i]);
            end_event<HardEvent::MTE3_MTE2>(is_stored_[i]);
        }
        if (kSplits) release_event<HardEvent::MTE2_V>(first_is_loaded_);
        for (uint32_t i = 0; kSplits && i + 1 < kMaxParts; ++i)
            release_event<HardEvent::MTE2_V>(part_is_loaded_[i]);
    }

    // Whether the second input of a run may be loaded in parts.
    __aicore__ inline bool has_parts(const LaneRun& run) const {
        return lanes_.has_parts(run) && run.count >= kLeastParts;
    }
    // load_second() follows, then take() and give_back(); what it returns stays until store_rest()
    // or `count_` further loads.
    __aicore__ inline const Load& load_first(const LaneRun& run) {
        const uint32_t buffer = loaded_ % count_;
        if (kWrites) WaitFlag<HardEvent::MTE3_MTE2>(is_stored_[buffer]);
        Load& load = loads_[buffer];
        load.run = run;
        load.inputs = inputs_.template AllocTensor<T>();
        const uint32_t head = lanes_.load_first(load.inputs, run);
        load.first = load.inputs[head];
        load.second = load.inputs[lanes_.second_at() + head];
        if (kSplits) SetFlag<HardEvent::MTE2_V>(first_is_loaded_);
        return load;
    }
    // With `in_parts` the second input comes in ever smaller ones, of which the first has at least
    // half of it, each to be taken.
    __aicore__ inline void load_second(bool is_last, bool in_parts) {
        Load& load = loads_[loaded_ % count_];
        const LaneRun& run = load.run;
        load.parts = 0;
        if (kSplits && in_parts) {
            for (uint32_t begin = 0; load.parts + 1 < kMaxParts;) {
                const uint32_t rest = run.count / (load.parts == 0 ? 2 : 8);
                const uint32_t end = lanes_.even_from(run, run.count - rest);
                lanes_.load_second(load.inputs, run, begin, end);
                SetFlag<HardEvent::MTE2_V>(part_is_loaded_[load.parts]);
                load.ends[load.parts++] = begin = end;
            }
            lanes_.load_second(load.inputs, run, load.ends[load.parts - 1], run.count);
        } else {
            lanes_.load_second(load.inputs, run);
        }
        load.ends[load.parts++] = run.count;
        LocalTensor<T> inputs = load.inputs;
        inputs_.EnQue(inputs);
        // Results wait until their buffer is wanted: loads come first.
        for (++loaded_; loaded_ - stored_ > count_ - 1;) store_next();
        if (!kWrites || !is_last || loaded_ - stored_ <= 1) return;
        // The core's sums come next. Of a result that is longer than the last one a half goes
        // before them, while they are made, and a half after, while other cores' are waited for.
        if (loads_[stored_ % count_].run.count > load.run.count) {
            begin_store();
        } else {
            store_next();
        }
    }

    // Once for every load where kSplits, before its first input is worked on.
    __aicore__ inline void wait_for_first() {
        if (kSplits) WaitFlag<HardEvent::MTE2_V>(first_is_loaded_);
    }
    // Before both inputs are worked on, and after it.
    __aicore__ inline void take() {
        inputs_.template DeQue<T>();
    }
    // The same for a part of the second; the last one takes both.
    __aicore__ inline void take(const Load& load, uint32_t part) {
        if (part + 1 == load.parts) {
            take();
        } else {
            WaitFlag<HardEvent::MTE2_V>(part_is_loaded_[part]);
        }
    }
    __aicore__ inline void give_back() {
        const uint32_t buffer = (loaded_ - 1) % count_;
        if (!kWrites) return;
        shift(loads_[buffer]);
        SetFlag<HardEvent::V_MTE3>(is_worked_on_[buffer]);
    }

    // Results that are not yet stored.
    __aicore__ inline void store_rest() {
        while (stored_ < loaded_) store_next();
    }

    // A buffer that is free after load_second(), and until the next load.
    __aicore__ inline LocalTensor<T> borrow() {
        return inputs_.template AllocTensor<T>();
    }
    __aicore__ inline void give_back(LocalTensor<T>& borrowed) {
        inputs_.FreeTensor(borrowed);
    }

  private:
    static constexpr uint32_t kMaxBuffers = 3;
    static constexpr uint32_t kLeastParts = 8 * ChannelLanes<T>::kEven;  // elements of a run

    // Moves what begins at an even place of the result, but within a block here, to the first
    // input's begin.
    __aicore__ inline void shift([[maybe_unused]] const Load& load) {
#if __CCE_AICORE__ == 220
        const uint32_t begin = lanes_.before_even(load.run), rest = begin % kBlock<T>;
        if (rest == 0) return;
        const LocalTensor<Bits> bits = bits_.template Get<Bits>();
        Duplicate(bits, static_cast<Bits>(kAll << rest), 1);
        uint64_t moved = 0;
        GatherMask(load.first.template ReinterpretCast<Bits>(),
                   load.second[begin - rest].template ReinterpretCast<Bits>(), bits, true,
                   load.run.count - begin + rest, GatherMaskParams(1, 1, 8, 8), moved);
#endif
    }

    __aicore__ inline void begin_store() {
        const uint32_t buffer = stored_ % count_;
        const Load& load = loads_[buffer];
        WaitFlag<HardEvent::V_MTE3>(is_worked_on_[buffer]);
        lanes_.store_half(load.second, load.first, load.run, tail_.template Get<T>());
        is_begun_ = true;
    }

    __aicore__ inline void store_next() {
        const uint32_t buffer = stored_++ % count_;
        Load& load = loads_[buffer];
        if (kWrites) {
            if (!is_begun_) WaitFlag<HardEvent::V_MTE3>(is_worked_on_[buffer]);
            lanes_.store(load.second, load.first, load.run, tail_.template Get<T>(), is_begun_);
            is_begun_ = false;
            SetFlag<HardEvent::MTE3_MTE2>(is_stored_[buffer]);
        }
        inputs_.FreeTensor(load.inputs);
    }

    const uint32_t count_;  // 2 or 3
    ChannelLanes<T> lanes_;
    TQue<TPosition::VECIN, 1> inputs_;
    TBuf<TPosition::VECCALC> tail_;
#if __CCE_AICORE__ == 220
    // A bit per element of a load: all but those before its even place.
    using Bits = typename BitsOf<sizeof(T)>::Type;
    static constexpr Bits kAll = static_cast<Bits>(~0u);
    TBuf<TPosition::VECCALC> bits_;
#endif
    Load loads_[kMaxBuffers];
    uint32_t loaded_ = 0, stored_ = 0;  // how many
    bool is_begun_ = false;             // half of the next one is stored
    event_t is_worked_on_[kMaxBuffers], is_stored_[kMaxBuffers], first_is_loaded_;
    event_t part_is_loaded_[kMaxParts - 1];
};

}  // namespace kernels
