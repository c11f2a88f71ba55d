#pragma once

#include "softmax_backward/even_rows.h"
#include "softmax_backward/strip_chunks.h"
#include "softmax_backward/strip_sums.h"
#include "softmax_backward/tiles.h"

namespace kernels {

// Strips of columns, chunk by chunk: all chunks are summed, then written. Between, the last ones
// stay in their buffers; the others, if any, are read again. The blocks of a team share a strip and
// exchange its sums through the workspace.
template <typename T, typename U>
class SoftmaxStrips : SoftmaxTiles<T, U, kSoftmaxMaxQueued> {
    using Base = SoftmaxTiles<T, U, kSoftmaxMaxQueued>;
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
          chunks_(tiling),
          even_rows_(pipe, tiling),
          sums_(pipe, pointers.workspace, tiling, chunks_),
          holds_(tiling.chunks <= tiling.input_buffers),
          early_(tiling.parts > 1 &&
                 (__CCE_AICORE__ != 220 || tiling.chunks + 1 >= tiling.input_buffers)),
          sends_first_(tiling.slice > 0 || (chunks_.is_packed() && tiling.parts > 1 && !early_)),
          free_(tiling.input_buffers) {
        const uint32_t floats = t_.buffer * static_cast<uint32_t>(sizeof(float));
        pipe.InitBuffer(products_, floats);
        if (!kIsFloat<T>) pipe.InitBuffer(wide_, floats);
    }

    __aicore__ void run() {
        const int64_t team = GetBlockIdx() / t_.parts, teams = GetBlockNum() / t_.parts;
        const TeamShare share(t_, teams, team);
        next_ = share.first;
        last_ = share.last;
        // What is loaded before a team's sums holds them up, what is loaded after them does not.
        fetch_ahead(t_.parts > 1 && !early_ ? 1 : 0);
        if (share.first < share.last) begin_total(chunks_.strip(share.first));
        for (int64_t i = share.first; i < share.last; ++i) {
            if (sums_.exchange().has_slices()) {
                sums_.exchange().add_slice();
                fetch_half();
            }
            const Strip strip = chunks_.strip(i);
            begin_chunk(strip, 0);  // while the sums are on their way
            sums_.end_total();
            fetch_ahead();
            write_strip(strip, i + 1);
        }
        if (t_.parts == 1) return;
        // Every block takes part in every barrier.
        const int64_t most = (t_.items + teams - 1) / teams;
        for (int64_t i = share.last - share.first; i < most; ++i) sums_.exchange().pass();
    }

  private:
    // A strip's last chunks, which stay in their buffers.
    __aicore__ uint64_t held(const Strip& strip) const {
        return strip.chunks < t_.input_buffers ? strip.chunks : t_.input_buffers;
    }

    // Chunks go through the queue in the order of their use: a strip's, those of them that are read
    // again, the next strip's. As many are on their way as there are free buffers.
    __aicore__ void fetch_ahead(uint32_t keep = 0) {
        while (next_ < last_ && (is_half_ || free_ > keep)) fetch_half();
    }
    // One copy: a chunk's grad_output, or what is missing of it. Between two barriers of slices no
    // more than that is issued.
    __aicore__ void fetch_half() {
        if (next_ >= last_ || (!is_half_ && free_ == 0)) return;
        const Strip strip = chunks_.strip(next_);
        const Chunk chunk = chunks_.chunk(
            strip, next_chunk_ < strip.chunks ? next_chunk_ : next_chunk_ - strip.chunks);
        is_half_ = !is_half_;
        if (is_half_) {
            --free_;
            fetched_ = inputs_.template AllocTensor<T>();
            load_chunk(fetched_, grad_, strip, chunk);
            return;
        }
        load_chunk(fetched_[t_.buffer], output_, strip, chunk);
        inputs_.EnQue(fetched_);
        if (++next_chunk_ < 2 * strip.chunks - held(strip)) return;
        next_chunk_ = 0;
        ++next_;
    }
    __aicore__ void load_chunk(const LocalTensor<T>& to, const GlobalTensor<T>& from,
                               const Strip& strip, const Chunk& chunk) {
        if (chunks_.is_packed()) {
            this->load_run(to, from, chunk.at, chunk.count, chunk.skipped);
        } else if (t_.rows_apart > 0) {
            even_rows_.load(to, from, chunk.at, chunk.count, strip.columns);
        } else {
            load_rows(to, from[chunk.at], chunk.count, strip.columns,
                      static_cast<uint64_t>(t_.inner), t_.pitch);
        }
    }
    __aicore__ void release(LocalTensor<T>& x) {
        inputs_.FreeTensor(x);
        ++free_;
    }

    __aicore__ void begin_total(const Strip& strip) {
        while (sums_.added() < strip.chunks) add_chunk(strip);
        sums_.begin_total();
    }

    __aicore__ void add_chunk(const Strip& strip) {
        const uint64_t index = sums_.added();
        LocalTensor<T> x = inputs_.template DeQue<T>();
        add_products(x, strip, chunks_.chunk(strip, index));
        if (index >= strip.chunks - held(strip)) {
            held_[kept_++ % kSoftmaxMaxQueued] = x;
        } else {
            release(x);
            fetch_ahead();
        }
    }

    __aicore__ void add_products(const LocalTensor<T>& x, const Strip& strip, const Chunk& chunk) {
        const uint32_t count = chunks_.size(chunk);
        const LocalTensor<float> products = products_.template Get<float>();
        LocalTensor<float> wide;
        if constexpr (!kIsFloat<T>) wide = wide_.template Get<float>();
        const LocalTensor<float> grad = this->widened(x, products, count);
        const LocalTensor<float> output = this->widened(x[t_.buffer], wide, count);
        Mul(products, grad, output, static_cast<int32_t>(count));
        if (chunk.skipped >= kBlock<T>) {  // else they are zero
            uint64_t skipped[2] = {(1ull << chunk.skipped) - 1, 0};
            Duplicate(products, 0.0f, skipped, 1, 1, 8);
        }
        // Only lanes with data: what pads rows is not defined.
        uint32_t lanes = chunks_.is_packed() ? at_most(count, t_.pitch) : strip.columns;
        if (chunks_.is_packed() && t_.inner == 1 && count >= 2 * kFloatsPerRepeat) {
            fold_row(products, 0, count);
            lanes = kFloatsPerRepeat;
        } else {
            fold_rows(products, 1, count, t_.pitch, 0);
        }
        sums_.add(products, lanes, chunk.phase);
    }

    // The chunks that are held, then the others. The next strip's are summed meanwhile, when they
    // should have come in; those that have buffers by then are written by a team while these sums
    // are on their way.
    __aicore__ void write_strip(const Strip& strip, int64_t next) {
        constexpr uint64_t kOnTheWay = 2;
        const uint64_t free = holds_ ? t_.input_buffers - t_.chunks : 0;
        const bool sums = next < last_;
        const Strip next_strip = chunks_.strip(sums ? next : 0);
        // The first chunk is in the floats already, which sums need.
        uint64_t late = free > 1 ? free - 1 : free;
        if (late >= strip.chunks) late = strip.chunks - 1;
        if (t_.parts == 1 || !sums) late = 0;
        for (uint64_t i = 0; i < strip.chunks; ++i) {
            if (i > 0) begin_chunk(strip, i);
            LocalTensor<U> result = end_chunk(strip);
            const uint64_t left = strip.chunks - 1 - i;
            const bool is_last = sums && left == late;
            const bool stays = is_last && sends_first_;
            // Slices that are on their way queue behind what is fetched.
            const bool may_fetch = left >= late || !sums_.exchange().has_slices();
            if (early_ ? may_fetch : sends_first_ && left > late) fetch_ahead();
            if (!stays) store_chunk(result, strip);
            if (left < late) continue;
            if (!early_ && !stays) fetch_ahead();
            while (sums && holds_ && sums_.added() < next_strip.chunks &&
                   sums_.added() + kOnTheWay <= i + free) {
                add_chunk(next_strip);
            }
            if (is_last) begin_total(next_strip);
            if (!stays) continue;
            store_chunk(result, strip);
            if (sums_.exchange().has_slices()) {
                fetch_half();
            } else {
                fetch_ahead();
            }
        }
    }

    // Takes the chunk that is written next, as floats.
    __aicore__ void begin_chunk(const Strip& strip, uint64_t index) {
        const uint64_t held_chunks = held(strip);
        const bool is_held = index < held_chunks;
        chunk_inputs_ =
            is_held ? held_[written_++ % kSoftmaxMaxQueued] : inputs_.template DeQue<T>();
        chunk_ = chunks_.chunk(strip,
                               is_held ? index + strip.chunks - held_chunks : index - held_chunks);
        const uint32_t count = chunks_.size(chunk_);
        LocalTensor<float> wide;
        if constexpr (!kIsFloat<T>) wide = wide_.template Get<float>();
        chunk_grad_ = this->widened(chunk_inputs_, products_.template Get<float>(), count);
        chunk_output_ = this->widened(chunk_inputs_[t_.buffer], wide, count);
    }

    __aicore__ LocalTensor<U> end_chunk(const Strip& strip) {
        LocalTensor<U> result = results_.template AllocTensor<U>();
        subtract_total(strip);
        if (t_.rows_apart > 0) {
            LocalTensor<U> all = products_.template Get<U>();
            if constexpr (!kIsFloat<T>) all = wide_.template Get<U>();
            this->finish(all, chunk_grad_, chunk_output_, chunks_.size(chunk_));
            even_rows_.pack(result, all, chunk_.at, chunk_.count, strip.columns);
        } else {
            this->finish(result, chunk_grad_, chunk_output_, chunks_.size(chunk_));
        }
        release(chunk_inputs_);
        if (chunk_.skipped > 0) this->pack_head(result, 0, chunk_.skipped);
        results_.EnQue(result);
        return result;
    }

    __aicore__ void store_chunk(LocalTensor<U>& result, const Strip& strip) {
        result = results_.template DeQue<U>();
        this->order_stores();
        if (chunks_.is_packed()) {
            this->store_run(chunk_.at, result, chunk_.count, chunk_.skipped);
        } else if (t_.rows_apart > 0) {
            even_rows_.store(out_, chunk_.at, result, chunk_.count, strip.columns, this->tail_);
        } else {
            this->store_all(chunk_.at, result, chunk_.count, strip.columns,
                            static_cast<uint64_t>(t_.inner), t_.pitch);
        }
        results_.FreeTensor(result);
    }

    __aicore__ void subtract_total(const Strip& strip) {
        const LocalTensor<float>& grad = chunk_grad_;
        const LocalTensor<float> total = sums_.total()[chunk_.phase];
        const uint32_t count = chunks_.size(chunk_);
        if (chunks_.is_packed() && t_.inner == 1) {
            combine_row<false>(grad, total, 0, count);
        } else if (chunks_.is_packed()) {
            const uint32_t periods = count / t_.pitch, whole = periods * t_.pitch;
            if (periods > 0) subtract_vector(grad, total, periods, t_.pitch, t_.pitch);
            if (whole < count) subtract_vector(grad[whole], total, 1, count - whole, t_.pitch);
        } else {
            subtract_vector(grad, total, chunk_.count, strip.columns, t_.pitch);
        }
    }

    const StripChunks chunks_;
    EvenRows<T, U> even_rows_;
    StripSums sums_;
    const bool holds_;  // all chunks of a strip
    // Loads before stores: a team's barrier waits for all of them, or hardly a buffer is free.
    const bool early_;
    // Of a team as well, and its next sums before the store of what was computed before them.
    const bool sends_first_;
    uint32_t free_;                // buffers
    int64_t next_ = 0, last_ = 0;  // strips to fetch from
    uint64_t next_chunk_ = 0;      // in the order of their use
    bool is_half_ = false;         // of that chunk, grad_output is fetched
    LocalTensor<T> fetched_;
    uint64_t kept_ = 0, written_ = 0;  // of all held chunks
    LocalTensor<T> held_[kSoftmaxMaxQueued];
    // The chunk that is written.
    Chunk chunk_;
    LocalTensor<T> chunk_inputs_;
    LocalTensor<float> chunk_grad_, chunk_output_;
    TBuf<TPosition::VECCALC> products_, wide_;
};

}  // namespace kernels
