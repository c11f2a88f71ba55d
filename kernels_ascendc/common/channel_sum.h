// The frame of kernels that sum over all axes but the channel's: tiles in, an element function,
// sums per element of the tile, at a block's end sums per channel, and across cores by way of the
// workspace, in order.
//
// Element, a class of the operator, has
//   Type; Vector, of vectors with a value per channel; kSums; kWrites (whether there is a result
//       tensor); kWork (work tiles it needs; at least 1 where kSums is 1)
//   void operator()(tiles, count, first)  for `count` elements of the tiles; the result goes to
//       `second`; where `first`, sums are set instead of added to
//   void load(free, channel, count)  what finish() needs of `count` channels
//   void finish(sums, free, channel, count, empty)  stores the results that come from these sums;
//       `empty`: they are over nothing; `free` holds what load() put there
#pragma once

#include "common/channel_lanes.h"
#include "common/channel_partials.h"

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
    using Vector = typename Element::Vector;
    static constexpr bool kWidens = !IsSameType<Vector, float>::value;
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
    static constexpr uint32_t kMaxBuffers = 3;
    static constexpr uint32_t kWork = Element::kWork > kLeastWork ? Element::kWork : kLeastWork;

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
        : tiling_(tiling),
          element_(element),
          lanes_(tiling_, pointers.first, pointers.second, pointers.result),
          partials_(tiling_, pointers.workspace) {
        vector_.SetGlobalBuffer((__gm__ Vector*)pointers.vector);
        const uint32_t tile = tiling.tile;
        pipe.InitBuffer(inputs_, static_cast<uint8_t>(tiling.input_buffers),
                        ChannelLanes<T>::input_bytes(tiling.load));
        pipe.InitBuffer(vector_buffer_, kVectors * tiling.vector_space * sizeof(float));
        if (kWidens) {
            const uint32_t elements = kVectors * tiling.vector_space;
            pipe.InitBuffer(narrow_vectors_, elements * sizeof(Vector));
        }
        pipe.InitBuffer(block_sums_, 1, kSums * tiling.sum_space * sizeof(float));
        pipe.InitBuffer(buffer_, buffer_floats() * sizeof(float));
        pipe.InitBuffer(tail_, kBlockBytes);
        LocalTensor<float> floats = buffer_.template Get<float>();
        tiles_.vector = floats;
        for (uint32_t i = 0; i < kSums; ++i) tiles_.sums[i] = floats[(1 + i) * tile];
        for (uint32_t i = 0; i < kWork; ++i)
            tiles_.work[i] = floats[(1 + kSums) * tile + i * tiling.work];
        more_sums_ = floats[(1 + kSums) * tile + kWork * tiling.work];
        zeros_ = more_sums_[kSums * tiling.sum_space];
    }

    __aicore__ inline void run() {
        if (tiling_.contributions > 0) {
            const ChannelTiles channels(tiling_);
            // Instructions also work on what lies between and behind the data.
            Duplicate(vector_buffer_.template Get<float>(), 0.0f,
                      static_cast<int32_t>(kVectors * tiling_.vector_space));
            if constexpr (kWidens)
                Duplicate(narrow_vectors_.template Get<half>(), static_cast<half>(0.0f),
                          static_cast<int32_t>(kVectors * tiling_.vector_space));
            for (uint32_t i = 0; i < kVectors; ++i) {
                vector_is_free_[i] = new_event<HardEvent::V_MTE2>();
                vector_is_loaded_[i] = new_event<HardEvent::MTE2_V>();
                SetFlag<HardEvent::V_MTE2>(vector_is_free_[i]);
            }
            Duplicate(tiles_.vector, 0.0f, static_cast<int32_t>(buffer_floats()));
            if constexpr (Element::kWrites) {
                for (uint32_t i = 0; i < tiling_.input_buffers; ++i) {
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
                for (uint32_t i = 0; i < tiling_.input_buffers; ++i)
                    end_event<HardEvent::MTE3_MTE2>(is_stored_[i]);
            }
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
        return (1 + kSums) * tiling_.tile + kWork * tiling_.work + (kSums + 1) * tiling_.sum_space +
               kRepeatFloats;
    }

    // What a core has of one block of channels.
    __aicore__ inline void sum_block(ChannelWalk& walk, const ChannelTiles& channels) {
        const uint32_t lanes = static_cast<uint32_t>(walk.block_lanes());
        const uint32_t last_channels =
            tiling_.layout == CHANNEL_SUM_SPREAD ? walk.tail_channels() : walk.block_channels();
        LocalTensor<float> sums;
        bool added = false;
        for (bool at_end = false; !at_end;) {
            load_vector(walk);
            LaneRun run;
            for (uint32_t tiles = 0; tiles < kTilesPerSum && !at_end;
                 tiles += (run.lanes - 1) / tiling_.slots + 1) {
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
        sums = block_sums_.template DeQue<float>();
        partials_.store(sums, walk, contribution);
        block_sums_.FreeTensor(sums);
        if (walk.block_is_complete()) {
            partials_.store_zeros(zeros_, walk, contribution + 1);
            walk.next_block();
        }
    }

    __aicore__ inline void begin_tiles(const ChannelTiles& channels, uint32_t lanes,
                                       uint32_t last_channels) {
        WaitFlag<HardEvent::MTE2_V>(vector_is_loaded_[vector_parity_]);
        clear_behind(lanes, last_channels);
        if constexpr (kWidens)
            Cast(vector(), loaded_vector(), RoundMode::CAST_NONE, tiling_.vector_space);
        const LocalTensor<float> free = kSums > 1 ? tiles_.sums[kSums - 1] : tiles_.work[0];
        channels.expand(tiles_.vector, vector(), lanes, free, tiles_.sums[0]);
        SetFlag<HardEvent::V_MTE2>(vector_is_free_[vector_parity_]);
        vector_parity_ = (vector_parity_ + 1) % kVectors;
    }

    __aicore__ inline LocalTensor<float> vector() {
        return vector_buffer_.template Get<float>()[vector_parity_ * tiling_.vector_space];
    }
    __aicore__ inline LocalTensor<Vector> loaded_vector() {
        if constexpr (kWidens) {
            return narrow_vectors_.template Get<Vector>()[vector_parity_ * tiling_.vector_space];
        } else {
            return vector();
        }
    }

    // Zeros behind the channels that were loaded, up to the end of their blocks, where those are
    // transposed or widened to blocks without a channel.
    __aicore__ inline void clear_behind([[maybe_unused]] uint32_t lanes,
                                        [[maybe_unused]] uint32_t last_channels) {
        if constexpr (kWidens || __CCE_AICORE__ == 100) {
            const LocalTensor<Vector> vector = loaded_vector();
            if (tiling_.layout == CHANNEL_SUM_SPREAD) {
                const uint32_t pitch = round_up(tiling_.group, kLanes);
                for (uint32_t lane = 0; kWidens && lane + 1 < lanes; ++lane)
                    clear_rest(vector[lane * pitch], tiling_.group);
                clear_rest(vector[(lanes - 1) * pitch], last_channels);
            } else {
                clear_rest(vector, last_channels);
            }
        }
    }

    __aicore__ inline void load_vector(const ChannelWalk& walk) {
        const LocalTensor<Vector> vector = loaded_vector();
        WaitFlag<HardEvent::V_MTE2>(vector_is_free_[vector_parity_]);
        GlobalTensor<Vector> from = vector_[walk.block() * tiling_.block_channels];
        if (tiling_.layout == CHANNEL_SUM_SPREAD) {
            const uint32_t group = tiling_.group, pitch = round_up(group, kLanes);
            const uint32_t whole = static_cast<uint32_t>(walk.block_lanes()) - 1;
            if (whole > 0) load_rows(vector, from, whole, group, group, pitch);
            load(vector[whole * pitch], from[whole * group], walk.tail_channels());
        } else {
            load(vector, from, walk.block_channels());
        }
        SetFlag<HardEvent::MTE2_V>(vector_is_loaded_[vector_parity_]);
    }

    __aicore__ inline uint32_t load_inputs(const LaneRun& run) {
        if constexpr (Element::kWrites) WaitFlag<HardEvent::MTE3_MTE2>(is_stored_[parity_]);
        const LocalTensor<T> inputs = inputs_.template AllocTensor<T>();
        const uint32_t head = lanes_.load(inputs, run);
        inputs_.EnQue(inputs);
        return head;
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
        const LocalTensor<T> from = inputs[head], second = inputs[lanes_.second_at() + head];
        const uint32_t begin = run.slot * tiling_.pitch;
        for (uint32_t lane = 0; lane < run.lanes; lane += tiling_.slots) {
            const uint32_t at = lane * tiling_.pitch;
            const uint32_t whole = tiling_.slots * tiling_.pitch, left = run.count - at;
            const uint32_t count =
                run.lanes - lane > tiling_.slots ? whole - tiling_.pitch + run.length : left;
            if (first) clear_around(begin, count);
            for (uint32_t done = 0; done < count; done += tiling_.work) {
                const uint32_t rest = count - done;
                work_on(from[at + done], second[at + done], begin + done,
                        rest < tiling_.work ? rest : tiling_.work, first);
            }
            first = false;
        }
        if constexpr (Element::kWrites) {
            wait_for<HardEvent::V_MTE3>();
            lanes_.store(second, run, tail_.template Get<T>());
            SetFlag<HardEvent::MTE3_MTE2>(is_stored_[parity_]);
            parity_ = (parity_ + 1) % tiling_.input_buffers;
        }
        inputs_.FreeTensor(inputs);
    }

    __aicore__ inline void work_on(const LocalTensor<T>& first_input,
                                   const LocalTensor<T>& second_input, uint32_t at, uint32_t count,
                                   bool first) {
        ElementTiles<T> tiles = tiles_;
        tiles.first = first_input;
        tiles.second = second_input;
        tiles.vector = tiles_.vector[at];
        for (uint32_t i = 0; i < kSums; ++i) tiles.sums[i] = tiles_.sums[i][at];
        element_(tiles, count, first);
    }

    // Overwrites the tile of channel values as well.
    __aicore__ inline void add_tiles(const LocalTensor<float>& sums, const ChannelTiles& channels,
                                     bool added, uint32_t lanes) {
        LocalTensor<float> to[kSums];
        for (uint32_t i = 0; i < kSums; ++i)
            to[i] = (added ? more_sums_ : sums)[i * tiling_.sum_space];
        channels.reduce(to, tiles_.sums, lanes, tiles_.vector, tiles_.work[0]);
        if (added) Add(sums, sums, more_sums_, static_cast<int32_t>(kSums * tiling_.sum_space));
    }

    // Each core adds the partial sums of its share of the channels.
    __aicore__ inline void finish() {
        // What a core stores begins with a line of 64 bytes.
        constexpr uint32_t kLine = 64 / sizeof(Vector);
        const Share share{(tiling_.channels + kLine - 1) / kLine, GetBlockNum()};
        const int64_t begin = share.begin(GetBlockIdx()) * kLine;
        const int64_t end = least(share.begin(GetBlockIdx() + 1) * kLine, tiling_.channels);
        const uint32_t contributions = tiling_.contributions > 0 ? tiling_.contributions : 1;
        uint32_t step = tiling_.tile / (contributions * kSums * tiling_.width) / kLanes * kLanes;
        if (step == 0) step = kLanes;
        wait_for<HardEvent::V_MTE2>();
        if (begin < end)
            element_.load(tiles_.vector, begin, static_cast<uint32_t>(least(step, end - begin)));
        if (tiling_.contributions > 0)
            partials_.wait_for_all_cores(tiles_.sums[0].template ReinterpretCast<int32_t>());
        for (int64_t at = begin; at < end; at += step) {
            const uint32_t count = static_cast<uint32_t>(least(step, end - at));
            if (at > begin) {
                PipeBarrier<PIPE_ALL>();
                element_.load(tiles_.vector, at, count);
            }
            for (uint32_t done = 0; done < tiling_.contributions;)
                done = partials_.add(tiles_.sums[0], done, at, count, step);
            // What element_.load() fills is shorter.
            const LocalTensor<float> behind = tiles_.vector[tiling_.tile / 2];
            // As the partial sums lie: [sum][channel][width].
            LocalTensor<float> sums[kSums];
            for (uint32_t i = 0; i < kSums; ++i) sums[i] = tiles_.sums[0][i * step * tiling_.width];
            if (tiling_.contributions == 0) {
                wait_for<HardEvent::MTE2_V>();
                Duplicate(sums[0], 0.0f, static_cast<int32_t>(kSums * step));
            } else if (tiling_.width > 1) {
                const uint32_t missing = round_up(count, kLanes) - count;
                for (uint32_t i = 0; i < kSums; ++i) {
                    if (missing > 0)
                        Duplicate(sums[i][count * kBlockFloats], 0.0f,
                                  static_cast<int32_t>(missing * kBlockFloats));
                    ChannelTiles(tiling_).sum_eights(sums[i], sums[i], count, behind,
                                                     tiles_.work[0]);
                }
            }
            element_.finish(sums, tiles_.vector, at, count, tiling_.contributions == 0);
        }
    }

    const ChannelSumTiling tiling_;
    Element& element_;
    ChannelLanes<T> lanes_;
    ChannelPartials<kSums> partials_;
    GlobalTensor<Vector> vector_;
    TQue<TPosition::VECIN, 1> inputs_;
    TQue<TPosition::VECOUT, 1> block_sums_;
    TBuf<TPosition::VECCALC> buffer_, vector_buffer_, narrow_vectors_, tail_;
    ElementTiles<T> tiles_;
    LocalTensor<float> more_sums_, zeros_;
    uint32_t parity_ = 0;  // of the tile's input buffer
    uint32_t vector_parity_ = 0;
    event_t vector_is_free_[kVectors], vector_is_loaded_[kVectors], is_stored_[kMaxBuffers];
};

}  // namespace kernels
