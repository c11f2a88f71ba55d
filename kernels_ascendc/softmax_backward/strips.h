#pragma once

#include "softmax_backward/row_sums.h"
#include "softmax_backward/tiles.h"

namespace kernels {

constexpr uint32_t kMaxHeld = 8;  // chunks

// Strips of columns, chunk by chunk: all chunks are summed, then written. Between, they stay in
// their buffers if there are enough of those, else they are read again. The blocks of a team share
// a strip and exchange its sums through the workspace.
template <typename T, typename U>
class SoftmaxStrips : SoftmaxTiles<T, U, kMaxHeld> {
    using Base = SoftmaxTiles<T, U, kMaxHeld>;
    using Base::grad_;
    using Base::inputs_;
    using Base::out_;
    using Base::output_;
    using Base::results_;
    using Base::t_;

  public:
    __aicore__ SoftmaxStrips(TPipe& pipe, const SoftmaxPointers& pointers,
                             const SoftmaxBackwardTiling& tiling)
        : Base(pipe, pointers, tiling),
          is_packed_(tiling.traversal == kSoftmaxPacked),
          slot_(round_up(tiling.pitch, kSlotFloats)),
          shared_(is_packed_ && tiling.inner > 1
                      ? round_up(static_cast<uint32_t>(tiling.inner), kSlotFloats)
                      : slot_),
          plane_(static_cast<uint64_t>(tiling.length * tiling.inner)),
          period_(static_cast<uint32_t>(tiling.inner)) {
        const uint32_t floats = t_.buffer * static_cast<uint32_t>(sizeof(float));
        pipe.InitBuffer(products_, floats);
        if (!kIsFloat<T>) pipe.InitBuffer(wide_, floats);
        if (is_packed_ && t_.inner == 1) {
            pipe.InitBuffer(sums_, kLanes * kLanes * sizeof(float));
            pipe.InitBuffer(scratch_, 2 * kLanes * kLanes * sizeof(float));
        } else if (is_packed_) {
            while (period_ % kFloatsPerBlock != 0) period_ += static_cast<uint32_t>(t_.inner);
            const uint32_t rows = kLanes * round_up(period_, kLanes) * sizeof(float);
            pipe.InitBuffer(sums_, rows);
            if (__CCE_AICORE__ == 100) pipe.InitBuffer(scratch_, rows);
        }
        if (t_.parts > 1) {
            if (t_.parts * shared_ > t_.buffer) {
                pipe.InitBuffer(partials_, t_.parts * shared_ * sizeof(float));
            }
            const auto blocks = static_cast<uint32_t>(GetBlockNum());
            sync_.SetGlobalBuffer((__gm__ int32_t*)pointers.workspace, blocks * kBlock<int32_t>);
            workspace_.SetGlobalBuffer((__gm__ float*)pointers.workspace);
#if __CCE_AICORE__ != 220
            pipe.InitBuffer(sync_buffer_, blocks * kBlockBytes);
            workspace_ = workspace_[round_up(blocks * kBlock<float>, kSlotFloats)];
#endif
        }
        cut_into_chunks();
        pipe.InitBuffer(levels_, (holds_ ? 2 : kLevels) * slot_ * sizeof(float));
    }

    __aicore__ void run() {
        const int64_t team = GetBlockIdx() / t_.parts, teams = GetBlockNum() / t_.parts;
        const Share share(t_, teams, team);
        if (holds_ && share.first < share.last) {
            for (uint64_t i = 0; i < chunks_; ++i) fetch(strip_at(share.first), i);
        }
        for (int64_t i = share.first; i < share.last; ++i) {
            const Strip strip = strip_at(i);
            sum_strip(strip);
            const bool is_last = i + 1 == share.last;
            write_strip(strip, holds_ && !is_last, strip_at(is_last ? i : i + 1));
        }
        if (t_.parts == 1) return;
        // Every block takes part in every barrier.
        const int64_t most = (t_.items + teams - 1) / teams;
        for (int64_t i = share.last - share.first; i < most; ++i) barrier();
    }

  private:
    static constexpr uint64_t kChunksOnTheWay = 2;
    static constexpr uint32_t kSlotFloats = 128;  // partial sums begin at multiples of 512 bytes
    // Sums of chunks, of 64 chunks, of 4096 chunks: no long chain of additions.
    static constexpr uint32_t kLevels = 3;
    static constexpr uint32_t kChunksPerLevel = 64;

    // Rows, or multiples of `pitch` elements, of this block's part.
    __aicore__ void cut_into_chunks() {
        const int64_t part = GetBlockIdx() % t_.parts;
        const auto pitch = static_cast<uint64_t>(t_.pitch);
        const int64_t units =
            is_packed_ ? static_cast<int64_t>((plane_ + pitch - 1) / pitch) : t_.length;
        first_ = static_cast<uint64_t>(units * part / t_.parts);
        end_ = static_cast<uint64_t>(units * (part + 1) / t_.parts);
        chunks_ = (end_ - first_ + t_.tile - 1) / t_.tile;
        holds_ = chunks_ <= t_.input_buffers;
    }

    struct Strip {
        uint64_t at;  // its first element
        uint32_t columns;
    };
    __aicore__ Strip strip_at(int64_t index) const {
        const int64_t column = index % t_.strips_per_plane * t_.width;
        const int64_t left = t_.inner - column;
        return {static_cast<uint64_t>(index / t_.strips_per_plane) * plane_ +
                    static_cast<uint64_t>(column),
                left < t_.width ? static_cast<uint32_t>(left) : t_.width};
    }

    // A chunk in global memory: from where, and how many rows or elements.
    struct Chunk {
        uint64_t at;
        uint32_t count;
    };
    __aicore__ Chunk chunk_at(const Strip& strip, uint64_t index) const {
        const uint64_t first = first_ + index * t_.tile;
        const uint64_t left = end_ - first;
        const uint64_t units = left < t_.tile ? left : t_.tile;
        if (!is_packed_) {
            return {strip.at + first * static_cast<uint64_t>(t_.inner),
                    static_cast<uint32_t>(units)};
        }
        const uint64_t begin = first * t_.pitch, rest = plane_ - begin;
        const uint64_t count = units * t_.pitch;
        return {strip.at + begin, static_cast<uint32_t>(rest < count ? rest : count)};
    }
    // Elements that it takes in a buffer.
    __aicore__ uint32_t size(const Chunk& chunk) const {
        return is_packed_ ? chunk.count : chunk.count * t_.pitch;
    }

    __aicore__ void fetch(const Strip& strip, uint64_t index) {
        const Chunk chunk = chunk_at(strip, index);
        LocalTensor<T> x = inputs_.template AllocTensor<T>();
        load_chunk(x, grad_, strip, chunk);
        load_chunk(x[t_.buffer], output_, strip, chunk);
        inputs_.EnQue(x);
    }
    __aicore__ void load_chunk(const LocalTensor<T>& to, const GlobalTensor<T>& from,
                               const Strip& strip, const Chunk& chunk) {
        if (is_packed_) {
            this->load_run(to, from, chunk.at, chunk.count);
        } else {
            load_rows(to, from[chunk.at], chunk.count, strip.columns,
                      static_cast<uint64_t>(t_.inner), t_.pitch);
        }
    }

    __aicore__ void sum_strip(const Strip& strip) {
        if (!holds_ || summed_ == 0) clear_sums();
        while (summed_ < chunks_) {
            if (!holds_) fetch(strip, summed_);
            add_chunk(strip);
        }
        total_ = levels();
        if (!holds_) {
            for (uint32_t k = 1; k < kLevels; ++k) {
                Add(total_, total_, total_[k * slot_], static_cast<int32_t>(slot_));
            }
        }
        summed_ = 0;
        if (holds_) turn_ = 1 - turn_;
        if (is_packed_ && t_.inner > 1) return sum_columns();
        if (t_.parts > 1) exchange();
        if (!is_packed_) return;
        fold_rows(total_, 1, t_.pitch, kFloatsPerRepeat, 0);
        const LocalTensor<float> sum = sums_.template Get<float>();
        sum_rows(sum, total_, 1, kFloatsPerRepeat, kFloatsPerRepeat,
                 scratch_.template Get<float>());
        total_ = sum;
    }

    // total_ = the sums of columns, over and over up to the pitch. Columns do not begin at blocks:
    // between, each sum is a row of sixteen lanes.
    __aicore__ void sum_columns() {
        const auto columns = static_cast<uint32_t>(t_.inner);
        const uint32_t all = round_up(period_, kLanes);
        const LocalTensor<float> rows = sums_.template Get<float>();
        LocalTensor<float> scratch;
#if __CCE_AICORE__ == 100
        scratch = scratch_.template Get<float>();
        Duplicate(rows, 0.0f, static_cast<int32_t>(all * kLanes));
#endif
        fold_rows(total_, 1, t_.pitch, period_, 0);
        interleave(rows, total_, period_, 0, scratch);
        fold_rows(rows, 1, period_ * kLanes, columns * kLanes, 0);
        if (t_.parts > 1) {
            repeat(rows, columns * kLanes, round_up(columns, kLanes) * kLanes);
            deinterleave(total_, rows, round_up(columns, kLanes), 0, scratch);
            exchange();
            interleave(rows, total_, round_up(columns, kFloatsPerBlock), 0, scratch);
        }
        repeat(rows, columns * kLanes, all * kLanes);
        deinterleave(total_, rows, all, 0, scratch);
        repeat(total_, period_, t_.pitch);
    }

    // data[i] = data[i modulo done], i < count.
    __aicore__ void repeat(const LocalTensor<float>& data, uint32_t done, uint32_t count) {
        for (; done < count; done *= 2) {
            Adds(data[done], data, 0.0f, static_cast<int32_t>(at_most(count - done, done)));
        }
    }

    // Where the strip's sums grow: with chunks in levels, else in turns, as the next strip begins
    // while this one's sums are in use.
    __aicore__ LocalTensor<float> levels() {
        const LocalTensor<float> all = levels_.template Get<float>();
        return holds_ ? all[static_cast<uint32_t>(turn_) * slot_] : all;
    }
    __aicore__ void clear_sums() {
        Duplicate(levels(), 0.0f, static_cast<int32_t>((holds_ ? 1 : kLevels) * slot_));
    }

    __aicore__ void add_chunk(const Strip& strip) {
        LocalTensor<T> x = inputs_.template DeQue<T>();
        add_products(levels(), x, strip, size(chunk_at(strip, summed_)));
        if (holds_) {
            held_[summed_++] = x;
        } else {
            inputs_.FreeTensor(x);
            carry(levels(), ++summed_);
        }
    }

    __aicore__ void add_products(const LocalTensor<float>& sums, const LocalTensor<T>& x,
                                 const Strip& strip, uint32_t count) {
        const LocalTensor<float> products = products_.template Get<float>();
        LocalTensor<float> wide;
        if constexpr (!kIsFloat<T>) wide = wide_.template Get<float>();
        const LocalTensor<float> grad = this->widened(x, products, count);
        const LocalTensor<float> output = this->widened(x[t_.buffer], wide, count);
        Mul(products, grad, output, static_cast<int32_t>(count));
        fold_rows(products, 1, count, t_.pitch, 0);
        // Only lanes with data: what pads rows is not defined.
        const uint32_t lanes = is_packed_ ? at_most(count, t_.pitch) : strip.columns;
        Add(sums, sums, products, static_cast<int32_t>(lanes));
    }

    // Level k is added to the next and starts again after 64 additions.
    __aicore__ void carry(const LocalTensor<float>& levels, uint64_t added) {
        for (uint32_t k = 0; k + 1 < kLevels && added % kChunksPerLevel == 0; ++k) {
            const auto count = static_cast<int32_t>(slot_);
            Add(levels[(k + 1) * slot_], levels[(k + 1) * slot_], levels[k * slot_], count);
            Duplicate(levels[k * slot_], 0.0f, count);
            added /= kChunksPerLevel;
        }
    }

    __aicore__ void barrier() {
#if __CCE_AICORE__ == 220
        SyncAll<true>();
#else
        SyncAll(sync_, sync_buffer_.template Get<int32_t>());
#endif
    }

    // total_ = the sum of all parts', in the order of blocks. Partial sums of the strip before may
    // still be read by others: strips take turns between two areas.
    __aicore__ void exchange() {
        const auto blocks = static_cast<uint64_t>(GetBlockNum());
        const auto block = static_cast<uint64_t>(GetBlockIdx());
        const GlobalTensor<float> area = workspace_[area_ * blocks * shared_];
        area_ = 1 - area_;
        wait_for<HardEvent::V_MTE3>();
        DataCopy(area[block * shared_], total_, shared_);
        barrier();
        // Products are not needed between the two passes.
        const LocalTensor<float> partials = t_.parts * shared_ > t_.buffer
                                                ? partials_.template Get<float>()
                                                : products_.template Get<float>();
        DataCopy(partials, area[block / t_.parts * t_.parts * shared_], t_.parts * shared_);
        wait_for<HardEvent::MTE2_V>();
        fold_rows(partials, 1, t_.parts * shared_, shared_, 0);
        Adds(total_, partials, 0.0f, static_cast<int32_t>(shared_));
    }

    // Buffers that come free take the chunks of the next strip, which are summed soon after.
    __aicore__ void write_strip(const Strip& strip, bool fetches, const Strip& next) {
        for (uint64_t i = 0; i < chunks_; ++i) {
            if (!holds_) fetch(strip, i);
            LocalTensor<T> x = holds_ ? held_[i] : inputs_.template DeQue<T>();
            const Chunk chunk = chunk_at(strip, i);
            LocalTensor<U> result = results_.template AllocTensor<U>();
            compute(result, x, strip, chunk);
            inputs_.FreeTensor(x);
            results_.EnQue(result);
            result = results_.template DeQue<U>();
            this->order_stores();
            if (is_packed_) {
                this->store_run(chunk.at, result, chunk.count);
            } else {
                this->store_all(chunk.at, result, chunk.count, strip.columns,
                                static_cast<uint64_t>(t_.inner), t_.pitch);
            }
            results_.FreeTensor(result);
            if (!fetches) continue;
            if (i == 0) clear_sums();
            fetch(next, i);
            if (i >= kChunksOnTheWay) add_chunk(next);
        }
    }

    __aicore__ void compute(const LocalTensor<U>& result, const LocalTensor<T>& x,
                            const Strip& strip, const Chunk& chunk) {
        const uint32_t count = size(chunk);
        LocalTensor<float> wide;
        if constexpr (!kIsFloat<T>) wide = wide_.template Get<float>();
        const LocalTensor<float> grad = this->widened(x, products_.template Get<float>(), count);
        const LocalTensor<float> output = this->widened(x[t_.buffer], wide, count);
        if (is_packed_ && t_.inner == 1) {
            combine_row<false>(grad, total_, 0, count);
        } else if (is_packed_) {
            const uint32_t periods = count / t_.pitch, whole = periods * t_.pitch;
            if (periods > 0) subtract_vector(grad, total_, periods, t_.pitch, t_.pitch);
            if (whole < count) subtract_vector(grad[whole], total_, 1, count - whole, t_.pitch);
        } else {
            subtract_vector(grad, total_, chunk.count, strip.columns, t_.pitch);
        }
        this->finish(result, grad, output, count);
    }

    const bool is_packed_;
    const uint32_t slot_;    // floats of a level's sums
    const uint32_t shared_;  // of those that a team exchanges
    const uint64_t plane_;
    uint32_t period_;  // packed: of columns and blocks
    uint64_t first_ = 0, end_ = 0, chunks_ = 0;
    bool holds_ = false;
    uint64_t summed_ = 0;  // chunks of the strip at hand or the next
    uint64_t turn_ = 0;    // of the two places of sums
    uint64_t area_ = 0;    // of the two in the workspace
    LocalTensor<T> held_[kMaxHeld];
    LocalTensor<float> total_;
    GlobalTensor<float> workspace_;
    GlobalTensor<int32_t> sync_;
    TBuf<TPosition::VECCALC> products_, wide_, levels_, sums_, scratch_, partials_, sync_buffer_;
};

}  // namespace kernels
