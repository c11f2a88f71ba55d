// The frame of kernels that sum over all axes but the channel's: tiles in, an element function,
// sums per element of the tile, at a block's end sums per channel, and across cores by way of the
// workspace, in order.
//
// Element, a class of the operator, has
//   Type; kSums; kWrites (whether there is a result tensor); kWork (work tiles it needs; at least 1
//       where kSums is 1)
//   void operator()(tiles, count, first)  for `count` elements of the tiles; the result goes to
//       `second`; where `first`, sums are set instead of added to
//   void load(free, channel, count)  what finish() needs of `count` channels
//   void finish(sums, free, channel, count, empty)  stores the results that come from these sums;
//       `empty`: they are over nothing; `free` holds what load() put there
#pragma once

#include "common/channel_tiles.h"
#include "common/channel_walk.h"

namespace kernels {

template <typename T>
struct ElementTiles {
    static constexpr uint32_t kMaxSums = 2;
    static constexpr uint32_t kMaxWork = 2;
    LocalTensor<T> first, second;       // inputs
    LocalTensor<float> vector;          // the value of the element's channel
    LocalTensor<float> sums[kMaxSums];  // to add to
    LocalTensor<float> work[kMaxWork];
};

template <typename Element>
class ChannelSum {
    using T = typename Element::Type;
    static constexpr uint32_t kSums = Element::kSums;
    // Tiles added to a sum before it is added to the block's.
    static constexpr uint32_t kTilesPerSum = 64;
#if __CCE_AICORE__ == 100
    static constexpr uint32_t kLeastWork = 1;  // for transposing
    static constexpr uint32_t kVectors = 1;    // there are few events
#else
    static constexpr uint32_t kLeastWork = 0;
    static constexpr uint32_t kVectors = 2;
#endif
    static constexpr uint32_t kWork = Element::kWork > kLeastWork ? Element::kWork : kLeastWork;
    static constexpr uint32_t kEvenBytes = 512;  // where copies begin best

  public:
    struct Pointers {
        GM_ADDR first;
        GM_ADDR second;
        GM_ADDR result;
        GM_ADDR vector;
        GM_ADDR workspace;
    };

    __aicore__ inline ChannelSum(TPipe& pipe, const ChannelSumTiling& tiling, Element& element,
                                 const Pointers& pointers)
        : tiling_(tiling), element_(element) {
        first_.SetGlobalBuffer((__gm__ T*)pointers.first);
        second_.SetGlobalBuffer((__gm__ T*)pointers.second);
        result_.SetGlobalBuffer((__gm__ T*)pointers.result);
        vector_.SetGlobalBuffer((__gm__ float*)pointers.vector);
        barrier_.SetGlobalBuffer((__gm__ int32_t*)pointers.workspace);
        partials_.SetGlobalBuffer((__gm__ float*)(pointers.workspace + tiling.partials));
        const uint32_t tile = tiling.tile;
        reads_ahead_ = pointers.result != pointers.first && pointers.result != pointers.second;
        pipe.InitBuffer(inputs_, 2, 2 * (tile * sizeof(T) + kEvenBytes));
        pipe.InitBuffer(vector_buffer_, kVectors * tiling.vector_space * sizeof(float));
        pipe.InitBuffer(block_sums_, 1, kSums * tiling.sum_space * sizeof(float));
        pipe.InitBuffer(buffer_, buffer_floats() * sizeof(float));
        pipe.InitBuffer(tail_, kBlockBytes);
        LocalTensor<float> floats = buffer_.template Get<float>();
        tiles_.vector = floats;
        for (uint32_t i = 0; i < kSums; ++i) tiles_.sums[i] = floats[(1 + i) * tile];
        for (uint32_t i = 0; i < kWork; ++i) tiles_.work[i] = floats[(1 + kSums + i) * tile];
        more_sums_ = floats[(1 + kSums + kWork) * tile];
        zeros_ = more_sums_[tiling.sum_space];
    }

    __aicore__ inline void run() {
        if (tiling_.contributions > 0) {
            const ChannelTiles channels(tiling_);
            // Instructions also work on what lies between and behind the data.
            Duplicate(vector_buffer_.template Get<float>(), 0.0f,
                      static_cast<int32_t>(kVectors * tiling_.vector_space));
            for (uint32_t i = 0; i < kVectors; ++i) {
                vector_is_free_[i] = new_event<HardEvent::V_MTE2>();
                vector_is_loaded_[i] = new_event<HardEvent::MTE2_V>();
                SetFlag<HardEvent::V_MTE2>(vector_is_free_[i]);
            }
            Duplicate(tiles_.vector, 0.0f, static_cast<int32_t>(buffer_floats()));
            if constexpr (Element::kWrites) {
                for (uint32_t i = 0; i < 2; ++i) {
                    is_stored_[i] = new_event<HardEvent::MTE3_MTE2>();
                    SetFlag<HardEvent::MTE3_MTE2>(is_stored_[i]);
                }
            }
            ChannelWalk walk(tiling_);
            while (!walk.done()) sum_block(walk, channels);
            for (uint32_t i = 0; i < kVectors; ++i) {
                end_event<HardEvent::V_MTE2>(vector_is_free_[i]);
                GetTPipePtr()->template ReleaseEventID<HardEvent::MTE2_V>(vector_is_loaded_[i]);
            }
            if constexpr (Element::kWrites) {
                for (uint32_t i = 0; i < 2; ++i) end_event<HardEvent::MTE3_MTE2>(is_stored_[i]);
            }
            wait_for_all_cores();
        }
        finish();
    }

  private:
    template <HardEvent event>
    static __aicore__ inline event_t new_event() {
        return static_cast<event_t>(GetTPipePtr()->template AllocEventID<event>());
    }
    template <HardEvent event>
    static __aicore__ inline void end_event(event_t id) {
        WaitFlag<event>(id);
        GetTPipePtr()->template ReleaseEventID<event>(id);
    }

    __aicore__ inline uint32_t buffer_floats() const {
        return (1 + kSums + kWork) * tiling_.tile + 2 * tiling_.sum_space + kRepeatFloats;
    }

    __aicore__ inline bool packed() const {
        return tiling_.lane_stride == tiling_.pitch && tiling_.length == tiling_.pitch &&
               tiling_.last_length == tiling_.pitch;
    }

    // What a core has of one block of channels.
    __aicore__ inline void sum_block(ChannelWalk& walk, const ChannelTiles& channels) {
        const uint32_t lanes = static_cast<uint32_t>(block_lanes(walk));
        const uint32_t last_channels =
            tiling_.layout == CHANNEL_SUM_SPREAD ? tail_channels(walk) : block_channels(walk);
        LocalTensor<float> sums;
        bool added = false;
        for (bool at_end = false; !at_end;) {
            load_vector(walk);
            for (uint32_t tiles = 0; tiles < kTilesPerSum && !at_end; ++tiles) {
                LaneRun run;
                at_end = walk.next(run);
                const uint32_t head = load_inputs(run);
                if (tiles == 0) begin_tiles(channels, lanes, last_channels);
                process(run, head, tiles == 0);
            }
            if (!added) sums = block_sums_.template AllocTensor<float>();
            add_tiles(sums, channels, added, lanes);
            added = true;
        }
        block_sums_.EnQue(sums);
        const int64_t contribution = walk.predecessors();
        store_sums(walk, contribution);
        if (walk.block_is_complete()) {
            store_zeros(walk, contribution + 1);
            walk.next_block();
        }
    }

    __aicore__ inline void begin_tiles(const ChannelTiles& channels, uint32_t lanes,
                                       [[maybe_unused]] uint32_t last_channels) {
        WaitFlag<HardEvent::MTE2_V>(vector_is_loaded_[vector_parity_]);
#if __CCE_AICORE__ == 100
        if (tiling_.layout == CHANNEL_SUM_SPREAD) {
            clear_rest(vector()[(lanes - 1) * channels.group_pitch()], last_channels);
        } else {
            clear_rest(vector(), last_channels);
        }
#endif
        constexpr uint32_t kLast = kSums > 1 ? kSums - 1 : kWork - 1;
        const LocalTensor<float> free = kSums > 1 ? tiles_.sums[kLast] : tiles_.work[kLast];
        channels.expand(tiles_.vector, vector(), lanes, free, tiles_.sums[0]);
        SetFlag<HardEvent::V_MTE2>(vector_is_free_[vector_parity_]);
        vector_parity_ = (vector_parity_ + 1) % kVectors;
    }

#if __CCE_AICORE__ == 100
    // Loads end with a block: what follows the data in memory must not reach instructions that
    // transpose.
    __aicore__ inline void clear_rest(const LocalTensor<float>& data, uint32_t count) {
        const uint32_t rest = count % kBlockFloats;
        if (rest == 0) return;
        uint64_t mask[2] = {0xffull & ~((1ull << rest) - 1), 0};
        Duplicate(data[count - rest], 0.0f, mask, 1, 1, kBlockFloats);
    }
#endif

    __aicore__ inline LocalTensor<float> vector() {
        return vector_buffer_.template Get<float>()[vector_parity_ * tiling_.vector_space];
    }

    // Lanes with channels of their own.
    __aicore__ inline int64_t block_lanes(const ChannelWalk& walk) const {
        return least(walk.inner(), tiling_.slots);
    }

    // Channels of a lane of CHANNEL_SUM_SPREAD that is the block's last.
    __aicore__ inline uint32_t tail_channels(const ChannelWalk& walk) const {
        return walk.tail() / tiling_.spatial;
    }

    __aicore__ inline uint32_t block_channels(const ChannelWalk& walk) const {
        const int64_t before = walk.block() * tiling_.block_channels;
        return static_cast<uint32_t>(least(tiling_.block_channels, tiling_.channels - before));
    }

    __aicore__ inline void load_vector(const ChannelWalk& walk) {
        const LocalTensor<float> vector = this->vector();
        WaitFlag<HardEvent::V_MTE2>(vector_is_free_[vector_parity_]);
        GlobalTensor<float> from = vector_[walk.block() * tiling_.block_channels];
        if (tiling_.layout == CHANNEL_SUM_SPREAD) {
            const uint32_t group = tiling_.group, pitch = round_up(group, kLanes);
            const uint32_t whole = static_cast<uint32_t>(block_lanes(walk)) - 1;
            if (whole > 0) load_rows(vector, from, whole, group, group, pitch);
            load(vector[whole * pitch], from[whole * group], tail_channels(walk));
        } else {
            load(vector, from, block_channels(walk));
        }
        SetFlag<HardEvent::MTE2_V>(vector_is_loaded_[vector_parity_]);
    }

    // Elements that the copies begin before the run, so that they begin evenly.
    __aicore__ inline uint32_t head_of(const LaneRun& run) const {
        const uint32_t head = static_cast<uint32_t>(run.offset * sizeof(T) % kEvenBytes);
        const bool fits = reads_ahead_ && head % kBlockBytes == 0 && is_one_piece(run);
        return fits ? head / sizeof(T) : 0;
    }

    __aicore__ inline bool is_one_piece(const LaneRun& run) const {
        return run.lanes == 1 || packed();
    }

    __aicore__ inline void load_lanes(const LocalTensor<T>& to, const GlobalTensor<T>& from,
                                      const LaneRun& run, uint32_t head) {
        if (is_one_piece(run)) {
            load(to, from[run.offset - head], head + run.count);
            return;
        }
        const uint32_t whole = run.last == run.length ? run.lanes : run.lanes - 1;
        load_rows(to, from[run.offset], whole, run.length,
                  static_cast<uint64_t>(tiling_.lane_stride), tiling_.pitch);
        if (whole < run.lanes) {
            load(to[whole * tiling_.pitch], from[run.offset + whole * tiling_.lane_stride],
                 run.last);
        }
    }

    // Returns where the run begins in the tiles.
    __aicore__ inline uint32_t load_inputs(const LaneRun& run) {
        if constexpr (Element::kWrites) WaitFlag<HardEvent::MTE3_MTE2>(is_stored_[parity_]);
        LocalTensor<T> inputs = inputs_.template AllocTensor<T>();
#if __CCE_AICORE__ == 100
        if (!packed()) {  // transposing takes whole blocks of what lies between the lanes
            wait_for<HardEvent::MTE3_V>();
            Duplicate(inputs.template ReinterpretCast<float>(), 0.0f,
                      static_cast<int32_t>(2 * second_at() * sizeof(T) / sizeof(float)));
            wait_for<HardEvent::V_MTE2>();
        }
#endif
        const uint32_t head = head_of(run);
        load_lanes(inputs, first_, run, head);
        load_lanes(inputs[second_at()], second_, run, head);
        inputs_.EnQue(inputs);
        return head;
    }

    // Place of the second input behind the first, elements.
    __aicore__ inline uint32_t second_at() const {
        return tiling_.tile + kEvenBytes / sizeof(T);
    }

    __aicore__ inline void store_lanes(const LocalTensor<T>& from, const LaneRun& run) {
        const LocalTensor<T> tail = tail_.template Get<T>();
#if __CCE_AICORE__ != 220
        PipeBarrier<PIPE_MTE3>();  // this tile may begin in the block where the last one ended
#endif
        if (is_one_piece(run)) {
            uint32_t done = 0;
#if __CCE_AICORE__ == 220
            // The begin apart, so that the rest begins evenly.
            const uint32_t odd = static_cast<uint32_t>(run.offset * sizeof(T) % kEvenBytes);
            const uint32_t begin = (kEvenBytes - odd) / sizeof(T);
            if (odd > 0 && odd % kBlockBytes == 0 && run.count > 2 * begin) {
                store(result_[run.offset], from, begin, tail);
                done = begin;
            }
#endif
            store(result_[run.offset + done], from[done], run.count - done, tail);
            return;
        }
        const uint32_t whole = run.last == run.length ? run.lanes : run.lanes - 1;
        store_rows(result_[run.offset], from, whole, run.length,
                   static_cast<uint64_t>(tiling_.lane_stride), tiling_.pitch, tail);
        if (whole < run.lanes) {
#if __CCE_AICORE__ != 220
            PipeBarrier<PIPE_MTE3>();
#endif
            store(result_[run.offset + whole * tiling_.lane_stride], from[whole * tiling_.pitch],
                  run.last, tail);
        }
    }

    // Zeros where the first tile of a sum sets nothing.
    __aicore__ inline void clear_around(uint32_t begin, uint32_t count) {
        const uint32_t rest = (begin + count) / kBlockFloats * kBlockFloats;
        for (uint32_t i = 0; i < kSums; ++i) {
            const LocalTensor<float> sum = tiles_.sums[i];
            if (begin > 0) Duplicate(sum, 0.0f, static_cast<int32_t>(begin));
            if (rest < tiling_.tile)
                Duplicate(sum[rest], 0.0f, static_cast<int32_t>(tiling_.tile - rest));
        }
    }

    __aicore__ inline void process(const LaneRun& run, uint32_t head, bool first) {
        LocalTensor<T> inputs = inputs_.template DeQue<T>();
        ElementTiles<T> tiles = tiles_;
        const uint32_t begin = run.slot * tiling_.pitch;
        tiles.first = inputs[head];
        tiles.second = inputs[second_at() + head];
        tiles.vector = tiles_.vector[begin];
        for (uint32_t i = 0; i < kSums; ++i) tiles.sums[i] = tiles_.sums[i][begin];
        if (first) clear_around(begin, run.count);
        element_(tiles, run.count, first);
        if constexpr (Element::kWrites) {
            wait_for<HardEvent::V_MTE3>();
            store_lanes(tiles.second, run);
            SetFlag<HardEvent::MTE3_MTE2>(is_stored_[parity_]);
            parity_ = 1 - parity_;
        }
        inputs_.FreeTensor(inputs);
    }

    // Overwrites the tile of channel values as well.
    __aicore__ inline void add_tiles(const LocalTensor<float>& sums, const ChannelTiles& channels,
                                     bool added, uint32_t lanes) {
        for (uint32_t i = 0; i < kSums; ++i) {
            const LocalTensor<float> to = sums[i * tiling_.sum_space];
            channels.reduce(added ? more_sums_ : to, tiles_.sums[i], lanes, tiles_.vector,
                            tiles_.work[0]);
            if (added) Add(to, to, more_sums_, static_cast<int32_t>(tiling_.sum_space));
        }
    }

    __aicore__ inline GlobalTensor<float> partial(int64_t contribution, uint32_t sum,
                                                  int64_t channel) {
        return partials_[(contribution * kSums + sum) * tiling_.partial_pitch +
                         channel * tiling_.width];
    }

    __aicore__ inline void store_packed(const GlobalTensor<float>& to,
                                        const LocalTensor<float>& from, uint32_t count) {
#if __CCE_AICORE__ == 220
        store(to, from, count, from);
#else
        DataCopy(to, from, round_up(count, kBlock<float>));  // the area ends with whole blocks
#endif
    }

    __aicore__ inline void store_sums(const ChannelWalk& walk, int64_t contribution) {
        LocalTensor<float> sums = block_sums_.template DeQue<float>();
        const int64_t channel = walk.block() * tiling_.block_channels;
        const uint32_t channels = block_channels(walk);
        const uint32_t group = tiling_.group, pitch = round_up(group, kLanes);
        const bool spread = tiling_.layout == CHANNEL_SUM_SPREAD && group != pitch;
#if __CCE_AICORE__ != 220
        if (spread) wait_for<HardEvent::V_S>();
#endif
        for (uint32_t i = 0; i < kSums; ++i) {
            const LocalTensor<float> from = sums[i * tiling_.sum_space];
            const GlobalTensor<float> to = partial(contribution, i, channel);
            if (spread) {
#if __CCE_AICORE__ == 220
                const uint32_t whole = channels / group;
                if (whole > 0) store_rows(to, from, whole, group, group, pitch, from);
                if (channels > whole * group) {
                    store(to[whole * group], from[whole * pitch], channels - whole * group, from);
                }
                continue;
#else
                for (uint32_t c = group; c < channels; ++c)
                    from.SetValue(c, from.GetValue(c / group * pitch + c % group));
                wait_for<HardEvent::S_MTE3>();
#endif
            }
            store_packed(to, from, channels * tiling_.width);
        }
        block_sums_.FreeTensor(sums);
    }

    // Contributions that no core makes to this block.
    __aicore__ inline void store_zeros(const ChannelWalk& walk, int64_t contribution) {
        if (contribution >= tiling_.contributions) return;
        const int64_t channel = walk.block() * tiling_.block_channels;
        for (; contribution < tiling_.contributions; ++contribution) {
            for (uint32_t i = 0; i < kSums; ++i) {
                store_packed(partial(contribution, i, channel), zeros_,
                             block_channels(walk) * tiling_.width);
            }
        }
    }

    __aicore__ inline void wait_for_all_cores() {
#if __CCE_AICORE__ == 220
        SyncAll();
#else
        PipeBarrier<PIPE_ALL>();
        if (GetBlockNum() > 1) {
            const LocalTensor<int32_t> counts = tiles_.vector.template ReinterpretCast<int32_t>();
            SyncAll(barrier_, counts);
        }
#endif
    }

    // Each core adds the partial sums of its share of the channels.
    __aicore__ inline void finish() {
        const Share share{(tiling_.channels + kLanes - 1) / kLanes, GetBlockNum()};
        const int64_t end = least(share.begin(GetBlockIdx() + 1) * kLanes, tiling_.channels);
        const uint32_t contributions = tiling_.contributions > 0 ? tiling_.contributions : 1;
        uint32_t step = tiling_.tile / (contributions * kSums * tiling_.width) / kLanes * kLanes;
        if (step == 0) step = kLanes;
        for (int64_t at = share.begin(GetBlockIdx()) * kLanes; at < end; at += step) {
            const uint32_t count = static_cast<uint32_t>(least(step, end - at));
            PipeBarrier<PIPE_ALL>();
            element_.load(tiles_.vector, at, count);
            for (uint32_t done = 0; done < tiling_.contributions;)
                done = add_partials(done, at, count, step);
            // What element_.load() fills is shorter.
            const LocalTensor<float> behind = tiles_.vector[tiling_.tile / 2];
            // As the partial sums lie: [sum][channel][width].
            LocalTensor<float> sums[kSums];
            for (uint32_t i = 0; i < kSums; ++i) sums[i] = tiles_.sums[0][i * step * tiling_.width];
            if (tiling_.contributions == 0) {
                wait_for<HardEvent::MTE2_V>();
                Duplicate(sums[0], 0.0f, static_cast<int32_t>(kSums * step));
            } else if (tiling_.width > 1) {
                for (uint32_t i = 0; i < kSums; ++i)
                    ChannelTiles(tiling_).sum_eights(sums[i], count, behind, tiles_.work[0]);
            }
            element_.finish(sums, tiles_.vector, at, count, tiling_.contributions == 0);
        }
    }

    // Adds contributions from `done` on to the sums of `count` channels from `channel` on; returns
    // how many are done.
    __aicore__ inline uint32_t add_partials(uint32_t done, int64_t channel, uint32_t count,
                                            uint32_t step) {
        const uint32_t floats = count * tiling_.width, pitch = step * tiling_.width;
        const LocalTensor<float> rows = tiles_.sums[0];
        // The sums of those before stay in the first row.
        const uint32_t before = done > 0 ? 1 : 0;
        const uint32_t most = tiling_.tile / (kSums * pitch) - before;
        const uint32_t left = tiling_.contributions - done;
        const uint32_t taken = left < most ? left : most;
        if (before > 0) wait_for<HardEvent::V_MTE2>();
        load_rows(rows[before * kSums * pitch], partial(done, 0, channel), kSums * taken, floats,
                  static_cast<uint64_t>(tiling_.partial_pitch), pitch);
        wait_for<HardEvent::MTE2_V>();
        fold(rows, (before + taken) * kSums * pitch, kSums * pitch);
        return done + taken;
    }

    const ChannelSumTiling tiling_;
    Element& element_;
    GlobalTensor<T> first_, second_, result_;
    GlobalTensor<float> vector_, partials_;
    GlobalTensor<int32_t> barrier_;
    TQue<TPosition::VECIN, 1> inputs_;
    TQue<TPosition::VECOUT, 1> block_sums_;
    TBuf<TPosition::VECCALC> buffer_, vector_buffer_, tail_;
    ElementTiles<T> tiles_;
    LocalTensor<float> more_sums_, zeros_;
    bool reads_ahead_;
    uint32_t parity_ = 0;  // of the tile's input buffer
    uint32_t vector_parity_ = 0;
    event_t vector_is_free_[kVectors], vector_is_loaded_[kVectors], is_stored_[2];
};

}  // namespace kernels
