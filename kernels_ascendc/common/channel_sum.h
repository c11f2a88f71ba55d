// The frame of kernels that sum over all axes but the channel's: tiles in, an element function,
// sums per element of the tile, at a block's end sums per channel, and across cores by way of the
// workspace, in order.
//
// Element, a class of the operator, has
//   Type; Vector, of vectors with a value per channel; kSums; kWrites (whether there is a result
//       tensor); kWork (work tiles it needs; at least 1 where kSums is 1); kSplits (whether the
//       first sum comes from the first input alone; then work[1] or, with no work tiles, the inputs
//       of the tile before are free between the following)
//   void begin(tiles, count, first)  what needs `first` only, for `count` elements of the tiles;
//       where `first`, sums are set instead of added to
//   void resume(tiles, count)  where kSplits: leaves work tiles as begin() did, for elements that
//       others came after
//   void operator()(tiles, count, first)  the rest; the result goes to `second`
// and what ChannelResults wants.
#pragma once

#include "common/channel_buffers.h"
#include "common/channel_flat.h"
#include "common/channel_parts.h"
#include "common/channel_results.h"
#include "common/channel_vectors.h"

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
    static constexpr uint32_t kSums = Element::kSums;
#if __CCE_AICORE__ == 100
    static constexpr uint32_t kLeastWork = 1;  // for transposing
    static constexpr bool kSplits = false;
    static constexpr bool kVectorFirst = true;  // arithmetic, not loads, has to begin early
    static constexpr bool kFlat = true;         // there is no copy of bytes
#else
    static constexpr uint32_t kLeastWork = 0;
    static constexpr bool kSplits = Element::kSplits;
    static constexpr bool kVectorFirst = false;
    static constexpr bool kFlat = false;
#endif
    static constexpr uint32_t kWork = Element::kWork > kLeastWork ? Element::kWork : kLeastWork;
    // Otherwise the vector unit is behind the loads: there is more to do, for half the bytes.
    static constexpr bool kInParts = kSplits && kWork == 0;
    using Buffers = ChannelBuffers<T, Element::kWrites, kSplits>;
    using Load = typename Buffers::Load;

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
          parts_(tiling_, kBlock<T>),
          element_(element),
          buffers_(pipe, tiling_, pointers.first, pointers.second, pointers.result),
          partials_(tiling_, pointers.workspace),
          vectors_(pipe, tiling_, pointers.vector) {
        const uint32_t tile = tiling.tile;
        pipe.InitBuffer(block_sums_, 1, kSums * tiling.sum_space * sizeof(float));
        pipe.InitBuffer(buffer_, buffer_floats() * sizeof(float));
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
            vectors_.begin();
            Duplicate(tiles_.vector, 0.0f, static_cast<int32_t>(buffer_floats()));
            buffers_.begin();
            ChannelWalk walk(tiling_);
            if (kFlat && tiling_.layout == CHANNEL_SUM_FLAT) {
                sum_flat(walk, ChannelFlat(tiling_));
            } else {
                while (!walk.done()) sum_block(walk, channels);
            }
            vectors_.end();
            partials_.arrive(kSums);
            buffers_.store_rest();
        }
        wait_for<HardEvent::V_MTE2>();
        ChannelResults<Element>(tiling_, element_, partials_, tiles_.sums, tiles_.vector,
                                tiles_.work[0])
            .store();
        if (tiling_.contributions > 0) buffers_.end();
    }

  private:
    __aicore__ inline uint32_t buffer_floats() const {
        return (1 + kSums) * tiling_.tile + kWork * tiling_.work +
               tiling_.spare_sums * tiling_.sum_space + kFloatsPerRepeat;
    }

    // What a core has of one block of channels.
    __aicore__ inline void sum_block(ChannelWalk& walk, const ChannelTiles& channels) {
        const uint32_t lanes = static_cast<uint32_t>(walk.block_lanes());
        const uint32_t last_channels =
            tiling_.layout == CHANNEL_SUM_SPREAD ? walk.tail_channels() : walk.block_channels();
        LocalTensor<float> sums;
        bool added = false;
        uint32_t stored = 0;  // sums
        for (bool at_end = false; !at_end;) {
            uint32_t reduced = 0;  // sums
            LaneRun run;
            for (uint64_t elements = 0;
                 elements < uint64_t{CHANNEL_SUM_TILES} * tiling_.period && !at_end;
                 elements += added_elements(run)) {
                at_end = walk.next(run);
                const bool first = elements == 0;
                const bool in_parts = kInParts && run.count <= tiling_.period && walk.done() &&
                                      channels.has_sides(run) && buffers_.has_parts(run);
                const Load& load = load_inputs(run, walk, first, in_parts);
                if (first) begin_tiles(channels, lanes, last_channels);
                if (kSplits) work_on_first(load, first);
                // Nothing overlaps with what comes after a core's last load.
                if (kSplits && walk.done()) {
                    if (!added) sums = block_sums_.template AllocTensor<float>();
                    reduce_first(added ? more_sums_ : sums, channels, lanes, run);
                    reduced = 1;
                    // It is stored while the others are made.
                    if (!added) {
                        wait_for<HardEvent::V_MTE3>();
                        store_parts(sums, 0, 1, walk);
                        partials_.arrive(1);
                        stored = 1;
                    }
                }
                if (in_parts) {
                    process_parts(load, first, channels, added ? more_sums_ : sums);
                    reduced = kSums;
                } else {
                    process(load, first);
                }
            }
            if (!added && reduced == 0) sums = block_sums_.template AllocTensor<float>();
            reduce(added ? more_sums_ : sums, reduced, kSums, channels, lanes, tiles_.vector);
            if (added) Add(sums, sums, more_sums_, static_cast<int32_t>(kSums * tiling_.sum_space));
            added = true;
        }
        store_sums(sums, stored, walk);
    }

    // Whether loads go on in a tile where the one before ended.
    __aicore__ inline bool is_run() const {
        return tiling_.layout == CHANNEL_SUM_EVEN_ROWS;
    }
    // Elements that a load adds to sums, or as many as add to each sum as often.
    __aicore__ inline uint32_t added_elements(const LaneRun& run) const {
        return is_run() ? run.count : round_up(run.count, tiling_.period);
    }

    // Those from the begin-th on.
    __aicore__ inline void store_sums(LocalTensor<float>& sums, uint32_t begin, ChannelWalk& walk) {
        block_sums_.EnQue(sums);
        sums = block_sums_.template DeQue<float>();
        store_parts(sums, begin, kSums, walk);
        block_sums_.FreeTensor(sums);
        walk.next_block();
    }
    __aicore__ inline void store_parts(const LocalTensor<float>& sums, uint32_t begin, uint32_t end,
                                       const ChannelWalk& walk) {
        partials_.store(sums, begin, end, walk);
        if (walk.block_is_complete())
            partials_.store_zeros(zeros_, begin, end, walk, walk.predecessors() + 1);
    }

    // The same where loads hold any channels, each summed up after every load.
    __aicore__ inline void sum_flat(ChannelWalk& walk, const ChannelFlat& channels) {
        const auto floats = static_cast<int32_t>(kSums * tiling_.sum_space);
        const LocalTensor<float> values = zeros_;  // every core contributes to the only block
        LocalTensor<float> sums = block_sums_.template AllocTensor<float>();
        Duplicate(sums, 0.0f, floats);
        LaneRun run;
        for (bool at_end = false, begins = true; !at_end;) {
            Duplicate(more_sums_, 0.0f, floats);
            for (uint32_t tiles = 0; tiles < CHANNEL_SUM_TILES && !at_end; ++tiles) {
                at_end = walk.next(run);
                const Load& load = load_inputs(run, walk, begins, false);
                if (begins) {
                    channels.repeat(values, vectors_.take(1, tiling_.group), tiles_.vector,
                                    tiles_.sums[0], tiles_.work[0]);
                    vectors_.free();
                    begins = false;
                }
                channels.expand(tiles_.vector, values, run.offset, run.count);
                process(load, true);
                for (uint32_t i = 0; i < kSums; ++i)
                    channels.add(more_sums_[i * tiling_.sum_space], tiles_.sums[i], tiles_.work[0],
                                 run.offset, run.count);
            }
            Add(sums, sums, more_sums_, floats);
        }
        for (uint32_t i = 0; i < kSums; ++i) channels.join_rows(sums[i * tiling_.sum_space]);
        store_sums(sums, 0, walk);
    }

    __aicore__ inline void begin_tiles(const ChannelTiles& channels, uint32_t lanes,
                                       uint32_t last_channels) {
        const LocalTensor<float> vector = vectors_.take(lanes, last_channels);
        const LocalTensor<float> free = kSums > 1 ? tiles_.sums[kSums - 1] : tiles_.work[0];
        channels.expand(tiles_.vector, vector, vectors_.pitch(), lanes, free, tiles_.sums[0]);
        vectors_.free();
    }

    __aicore__ inline const Load& load_inputs(const LaneRun& run, const ChannelWalk& walk,
                                              bool with_vector, bool in_parts) {
        if (kVectorFirst && with_vector) vectors_.load(walk);
        const Load& load = buffers_.load_first(run);
        if (!kVectorFirst && with_vector) vectors_.load(walk);
        buffers_.load_second(walk.done(), in_parts);
        return load;
    }

    // Zeros where the first load of a sum sets nothing.
    __aicore__ inline void clear_around(const LaneRun& run) {
        const uint32_t rest = parts_.unset_from(run);
        for (uint32_t i = 0; i < kSums; ++i) {
            const LocalTensor<float> sum = tiles_.sums[i];
            if (run.begin > 0) Duplicate(sum, 0.0f, static_cast<int32_t>(run.begin));
            if (rest < tiling_.tile)
                Duplicate(sum[rest], 0.0f, static_cast<int32_t>(tiling_.tile - rest));
        }
    }

    // Whether work tiles keep what is left to do for all elements of a load, and one of them is
    // free as a tile of scratch.
    __aicore__ inline bool keeps_work(const LaneRun& run) const {
        return run.count <= tiling_.work && tiling_.work == tiling_.tile;
    }

    // Where kSplits; process() does what is left.
    __aicore__ inline void work_on_first(const Load& load, bool first) {
        const LaneRun& run = load.run;
        buffers_.wait_for_first();
        for (ChannelPart part = parts_.first(run); part.count > 0; part = parts_.next(run, part)) {
            if (first && part.from == 0) clear_around(run);
            element_.begin(tiles_at(load, part, keeps_work(run)), part.count, first);
            first = first && parts_.goes_on(part);
        }
    }

    __aicore__ inline void process(const Load& load, bool first) {
        const LaneRun& run = load.run;
        buffers_.take();
        for (ChannelPart part = parts_.first(run); part.count > 0; part = parts_.next(run, part)) {
            const ElementTiles<T> tiles = tiles_at(load, part, kSplits && keeps_work(run));
            if constexpr (kSplits) {
                if (!keeps_work(run)) element_.resume(tiles, part.count);
            } else {
                if (first && part.from == 0) clear_around(run);
                element_.begin(tiles, part.count, first);
            }
            element_(tiles, part.count, first);
            first = first && parts_.goes_on(part);
        }
        buffers_.give_back();
    }

    // The same where the second input comes in parts, the first of which has eight lanes: they are
    // reduced while the others arrive. Sums up the last sum.
    __aicore__ inline void process_parts([[maybe_unused]] const Load& load,
                                         [[maybe_unused]] bool first,
                                         [[maybe_unused]] const ChannelTiles& channels,
                                         [[maybe_unused]] const LocalTensor<float>& sums) {
#if __CCE_AICORE__ != 100
        LocalTensor<T> other = buffers_.borrow();
        const LocalTensor<float> rows = other.template ReinterpretCast<float>();
        const LocalTensor<float> tile = tiles_.sums[kSums - 1];
        for (uint32_t part = 0, from = 0; part < load.parts; from = load.ends[part++]) {
            buffers_.take(load, part);
            element_(tiles_at(load, {from, from, 0}, false), load.ends[part] - from, first);
            if (part == 0) channels.reduce_side(rows, tile, 0);
        }
        channels.reduce_side(rows, tile, 1);
        channels.join_sides(sums[(kSums - 1) * tiling_.sum_space], rows);
        buffers_.give_back();
        buffers_.give_back(other);
#endif
    }

    // `apart`: each element of the load has a place of its own in work tiles.
    __aicore__ inline ElementTiles<T> tiles_at(const Load& load, const ChannelPart& part,
                                               bool apart) {
        ElementTiles<T> tiles = tiles_;
        tiles.first = load.first[part.from];
        tiles.second = load.second[part.from];
        tiles.vector = tiles_.vector[part.at];
        for (uint32_t i = 0; i < kSums; ++i) tiles.sums[i] = tiles_.sums[i][part.at];
        for (uint32_t i = 0; apart && i < kWork; ++i) tiles.work[i] = tiles_.work[i][part.from];
        return tiles;
    }

    // Sums begin to end, per channel. Overwrites `scratch`.
    __aicore__ inline void reduce(const LocalTensor<float>& sums, uint32_t begin, uint32_t end,
                                  const ChannelTiles& channels, uint32_t lanes,
                                  const LocalTensor<float>& scratch) {
        LocalTensor<float> to[kSums];
        for (uint32_t i = begin; i < end; ++i) to[i] = sums[i * tiling_.sum_space];
        channels.reduce(to + begin, tiles_.sums + begin, end - begin, lanes, scratch,
                        tiles_.work[0]);
    }

    // The first of them, between work_on_first() and process().
    __aicore__ inline void reduce_first(const LocalTensor<float>& sums,
                                        const ChannelTiles& channels, uint32_t lanes,
                                        [[maybe_unused]] const LaneRun& run) {
        if constexpr (kWork > 1) {
            // Where work tiles are shorter than a tile, neither holds what is left to do.
            reduce(sums, 0, 1, channels, lanes, tiles_.work[keeps_work(run) ? 1 : 0]);
        } else {
            LocalTensor<T> other = buffers_.borrow();
            reduce(sums, 0, 1, channels, lanes, other.template ReinterpretCast<float>());
            buffers_.give_back(other);
        }
    }

    const ChannelSumTiling tiling_;
    const ChannelParts parts_;
    Element& element_;
    Buffers buffers_;
    ChannelPartials<kSums> partials_;
    ChannelVectors<Vector> vectors_;
    TQue<TPosition::VECOUT, 1> block_sums_;
    TBuf<TPosition::VECCALC> buffer_;
    ElementTiles<T> tiles_;
    LocalTensor<float> more_sums_, zeros_;
};

}  // namespace kernels
