// Tiles of lanes (device/channel_sum.h) from and to the tensors in global memory.
#pragma once

#include "common/channel_walk.h"
#include "common/lanes.h"

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
        const bool is_transposed =
            tiling_.layout == CHANNEL_SUM_GROUPS || tiling_.layout == CHANNEL_SUM_SPREAD;
        if (is_transposed && !packed()) {  // with whole blocks of what lies between the lanes
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
    // From element `begin` of a run that has_parts() to `end`, both even places or its ends.
    __aicore__ inline void load_second(const LocalTensor<T>& inputs, const LaneRun& run,
                                       uint32_t begin, uint32_t end) {
        const uint32_t at = second_at() + begin_of(run) + begin;
        load_piece(inputs, at, second_, run.offset + begin, end - begin);
    }
    // Whether a run can be loaded in parts.
    __aicore__ inline bool has_parts(const LaneRun& run) const {
        return is_one_piece(run) && run.offset % kBlock<T> == 0;
    }
    // The first even place of a run from element `at` on.
    __aicore__ inline uint32_t even_from(const LaneRun& run, uint32_t at) const {
        return at + static_cast<uint32_t>((kEven - (run.offset + at) % kEven) % kEven);
    }

    // Bytes of store()'s `tail`.
#if __CCE_AICORE__ == 100
    static constexpr uint32_t kTailBytes = 3 * kBlockBytes * kLanes;
#else
    static constexpr uint32_t kTailBytes = kBlockBytes;
#endif
    // `shifted` has what follows before_even(), where that is no whole blocks. With `is_begun` what
    // store_half() has left.
    __aicore__ inline void store(const LocalTensor<T>& from, const LocalTensor<T>& shifted,
                                 const LaneRun& run, const LocalTensor<T>& tail,
                                 bool is_begun = false) {
        order_stores();
        if (is_one_piece(run)) {
            const uint32_t begin = before_even(run), half = is_begun ? half_of(run) : 0;
            if (begin > 0 && half == 0) kernels::store(result_[run.offset], from, begin, tail);
            const LocalTensor<T> rest = begin % kBlock<T> > 0 ? shifted : from[begin];
            kernels::store(result_[run.offset + begin + half], rest[half], run.count - begin - half,
                           tail);
            return;
        }
        const uint32_t whole = run.last == run.length ? run.lanes : run.lanes - 1;
#if __CCE_AICORE__ == 100
        if (run.length % kBlock<T> != 0 && run.length >= 2 * kBlock<T>) {
            store_odd_lanes(result_[run.offset], from, whole, run.length, tail);
        } else
#endif
            store_rows(result_[run.offset], from, whole, run.length,
                       static_cast<uint64_t>(tiling_.lane_stride), tiling_.pitch, tail);
        if (whole < run.lanes) {
            order_stores();
            kernels::store(result_[run.offset + whole * tiling_.lane_stride],
                           from[whole * tiling_.pitch], run.last, tail);
        }
    }

    // About half of it, or nothing.
    __aicore__ inline void store_half(const LocalTensor<T>& from, const LocalTensor<T>& shifted,
                                      const LaneRun& run, const LocalTensor<T>& tail) {
        const uint32_t half = half_of(run);
        if (half == 0) return;
        LaneRun first = run;
        first.count = before_even(run) + half;
        store(from, shifted, first, tail);
    }

    // Elements of a run that are stored apart, so that the rest begins evenly.
    __aicore__ inline uint32_t before_even([[maybe_unused]] const LaneRun& run) const {
#if __CCE_AICORE__ == 220
        const uint32_t odd = static_cast<uint32_t>(run.offset * sizeof(T) % kEvenBytes);
        const uint32_t begin = (kEvenBytes - odd) / sizeof(T);
        if (is_one_piece(run) && odd > 0 && run.count > 2 * begin) return begin;
#endif
        return 0;
    }

  private:
    // Elements behind before_even() that store_half() stores: up to an even place. If any, kEven or
    // more, so that before_even() of the shorter run is the same.
    __aicore__ inline uint32_t half_of(const LaneRun& run) const {
        return is_one_piece(run) ? (run.count - before_even(run)) / 2 / kEven * kEven : 0;
    }

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

#if __CCE_AICORE__ == 100
    // Lanes that end inside blocks: copies store whole ones, and then the last block once more, so
    // that it ends at the last element. It comes there by transposing sixteen lanes' last two
    // blocks, where a shift is one by whole blocks.
    __aicore__ inline void store_odd_lanes(const GlobalTensor<T>& to, const LocalTensor<T>& from,
                                           uint32_t lanes, uint32_t length,
                                           const LocalTensor<T>& tail) {
        constexpr uint32_t kHalves = sizeof(T) / sizeof(half), kRow = kBlock<half>;
        const uint32_t whole = length / kBlock<T> * kBlock<T>;
        const LocalTensor<half> rows = tail.template ReinterpretCast<half>();
        const LocalTensor<half> ends = rows[2 * kRow * kLanes];
        for (uint32_t first = 0; first < lanes; first += kLanes) {
            const uint32_t some = lanes - first < kLanes ? lanes - first : kLanes;
            const LocalTensor<T> blocks = from[first * tiling_.pitch + whole - kBlock<T>];
            wait_for<HardEvent::MTE3_V>();
            interleave_16bit(rows, blocks.template ReinterpretCast<half>(), 2 * kRow,
                             tiling_.pitch * kHalves, some);
            deinterleave_16bit(ends, rows[(length - whole) * kHalves * kLanes], kRow, kRow);
            wait_for<HardEvent::V_MTE3>();
            for (uint32_t lane = 0; lane < some; ++lane) {
                const GlobalTensor<T> row = to[(first + lane) * tiling_.lane_stride];
                DataCopy(row, from[(first + lane) * tiling_.pitch], whole);
                order_stores();
                DataCopy(row[length - kBlock<T>], ends[lane * kRow].template ReinterpretCast<T>(),
                         kBlock<T>);
                order_stores();
            }
        }
    }
#endif

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
