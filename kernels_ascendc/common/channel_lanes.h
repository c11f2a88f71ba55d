// Tiles of lanes (device/channel_sum.h) from and to the tensors in global memory.
#pragma once

#include "common/channel_walk.h"

namespace kernels {

template <typename T>
class ChannelLanes {
  public:
    static constexpr uint32_t kEvenBytes = 512;  // where copies begin best
    static constexpr uint32_t kEven = kEvenBytes / sizeof(T);

    __aicore__ inline ChannelLanes(const ChannelSumTiling& tiling, GM_ADDR first, GM_ADDR second,
                                   GM_ADDR result)
        : tiling_(tiling), reads_ahead_(result != first && result != second) {
        first_.SetGlobalBuffer((__gm__ T*)first);
        second_.SetGlobalBuffer((__gm__ T*)second);
        result_.SetGlobalBuffer((__gm__ T*)result);
    }

    // Bytes of a buffer for loads of both inputs.
    static __aicore__ inline uint32_t input_bytes(uint32_t load) {
        return 2 * (load * sizeof(T) + kEvenBytes);
    }
    // Place of the second input behind the first, elements.
    __aicore__ inline uint32_t second_at() const { return tiling_.load + kEven; }

    // Returns where the run begins in the inputs; load_second() follows.
    __aicore__ inline uint32_t load_first(const LocalTensor<T>& inputs, const LaneRun& run) {
#if __CCE_AICORE__ == 100
        if (!packed()) {  // transposing takes whole blocks of what lies between the lanes
            wait_for<HardEvent::MTE3_V>();
            Duplicate(inputs.template ReinterpretCast<float>(), 0.0f,
                      static_cast<int32_t>(2 * second_at() * sizeof(T) / sizeof(float)));
            wait_for<HardEvent::V_MTE2>();
        }
#endif
        load_one(inputs, first_, run);
        return begin_of(run);
    }
    __aicore__ inline void load_second(const LocalTensor<T>& inputs, const LaneRun& run) {
        load_one(inputs[second_at()], second_, run);
    }

    // `tail`: as for store().
    __aicore__ inline void store(const LocalTensor<T>& from, const LaneRun& run,
                                 const LocalTensor<T>& tail) {
        order_stores();
        if (is_one_piece(run)) {
            uint32_t done = 0;
#if __CCE_AICORE__ == 220
            // The begin apart, so that the rest begins evenly.
            const uint32_t odd = static_cast<uint32_t>(run.offset * sizeof(T) % kEvenBytes);
            const uint32_t begin = (kEvenBytes - odd) / sizeof(T);
            if (odd > 0 && odd % kBlockBytes == 0 && run.count > 2 * begin) {
                kernels::store(result_[run.offset], from, begin, tail);
                done = begin;
            }
#endif
            kernels::store(result_[run.offset + done], from[done], run.count - done, tail);
            return;
        }
        const uint32_t whole = run.last == run.length ? run.lanes : run.lanes - 1;
        store_rows(result_[run.offset], from, whole, run.length,
                   static_cast<uint64_t>(tiling_.lane_stride), tiling_.pitch, tail);
        if (whole < run.lanes) {
            order_stores();
            kernels::store(result_[run.offset + whole * tiling_.lane_stride],
                           from[whole * tiling_.pitch], run.last, tail);
        }
    }

  private:
    __aicore__ inline bool packed() const {
        return tiling_.lane_stride == tiling_.pitch && tiling_.length == tiling_.pitch &&
               tiling_.last_length == tiling_.pitch;
    }

    // Elements that a copy begins before that one, so that it begins evenly.
    __aicore__ inline uint32_t head_of(uint64_t offset) const {
        const uint32_t head = static_cast<uint32_t>(offset * sizeof(T) % kEvenBytes);
#if __CCE_AICORE__ == 220
        const bool fits = true;
#else
        const bool fits = head % kBlockBytes == 0;
#endif
        return fits && reads_ahead_ ? head / sizeof(T) : 0;
    }
    // Whether lanes have room for that before each.
    __aicore__ inline bool has_heads() const {
        return tiling_.pitch >= tiling_.length + kEven;
    }
    __aicore__ inline uint32_t begin_of(const LaneRun& run) const {
        if (is_one_piece(run)) return round_up(head_of(run.offset), kBlock<T>);
        return has_heads() ? kEven : 0;
    }

    __aicore__ inline bool is_one_piece(const LaneRun& run) const {
        return run.lanes == 1 || packed();
    }

    // to[at...] = from[offset...]
    __aicore__ inline void load_piece(const LocalTensor<T>& to, uint32_t at,
                                      const GlobalTensor<T>& from, uint64_t offset,
                                      uint32_t count) {
        const uint32_t head = head_of(offset), room = round_up(head, kBlock<T>);
        kernels::load(to[at - room], from[offset - head], head + count, room - head);
    }

    __aicore__ inline void load_one(const LocalTensor<T>& to, const GlobalTensor<T>& from,
                                    const LaneRun& run) {
        const uint32_t begin = begin_of(run);
        if (is_one_piece(run)) {
            load_piece(to, begin, from, run.offset, run.count);
            return;
        }
        if (has_heads()) {
            for (uint32_t lane = 0; lane < run.lanes; ++lane)
                load_piece(to, begin + lane * tiling_.pitch, from,
                           run.offset + lane * tiling_.lane_stride,
                           lane + 1 < run.lanes ? run.length : run.last);
            return;
        }
        const uint32_t whole = run.last == run.length ? run.lanes : run.lanes - 1;
        load_rows(to, from[run.offset], whole, run.length,
                  static_cast<uint64_t>(tiling_.lane_stride), tiling_.pitch);
        if (whole < run.lanes) {
            kernels::load(to[whole * tiling_.pitch], from[run.offset + whole * tiling_.lane_stride],
                          run.last);
        }
    }

    const ChannelSumTiling& tiling_;
    bool reads_ahead_;
    GlobalTensor<T> first_, second_, result_;
};

}  // namespace kernels
