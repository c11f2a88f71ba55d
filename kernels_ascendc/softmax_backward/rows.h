#pragma once

#include "softmax_backward/row_sums.h"
#include "softmax_backward/tiles.h"

namespace kernels {

// inner == 1: tiles of whole rows, `pitch` elements apart in the buffers: as they lie in memory, or
// each from a block on. As they lie, a tile that begins inside a block is loaded from that block's
// begin on; the tile before leaves its part of the block to be stored with this one's. Where a
// core's first row begins inside a block, its part of that block is computed and stored apart.
template <typename T, typename U>
class SoftmaxRows : SoftmaxTiles<T, U, kSoftmaxMaxQueued> {
    using Base = SoftmaxTiles<T, U, kSoftmaxMaxQueued>;
    using Base::grad_;
    using Base::inputs_;
    using Base::out_;
    using Base::output_;
    using Base::results_;
    using Base::t_;

  public:
    __aicore__ SoftmaxRows(TPipe& pipe, const SoftmaxPointers& pointers,
                           const SoftmaxBackwardTiling& tiling)
        : Base(pipe, pointers, tiling),
          length_(static_cast<uint32_t>(tiling.length)),
          share_(tiling, GetBlockNum(), GetBlockIdx()),
          next_(share_.first),
          free_(tiling.input_buffers) {
        const uint32_t floats = t_.buffer * static_cast<uint32_t>(sizeof(float));
        pipe.InitBuffer(products_, floats);
        if (!kIsFloat<T>) pipe.InitBuffer(wide_, 2 * floats);
        pipe.InitBuffer(sums_, sums_floats(t_.tile) * sizeof(float));
        pipe.InitBuffer(scratch_, scratch_floats(t_.tile) * sizeof(float));
        pipe.InitBuffer(carry_, kGroup * sizeof(float));
        pipe.InitBuffer(head_inputs_, 2 * kGroup * sizeof(T));
        pipe.InitBuffer(head_floats_, 2 * kGroup * sizeof(float));
        pipe.InitBuffer(head_result_, kGroup * sizeof(U));
    }

    __aicore__ void run() {
        fetch_ahead();
        load_head();
        for (int64_t row = share_.first; row < share_.last;) {
            const uint32_t rows = rows_from(row);
            tile(row, rows);
            row += rows;
        }
    }

  private:
    // Elements: whole blocks of every tensor. Shares begin at multiples.
    static constexpr uint32_t kGroup = kBlock<T> > kBlock<U> ? kBlock<T> : kBlock<U>;

    // Elements before a tile that its first block has.
    __aicore__ uint32_t lead(uint64_t at) const {
        return t_.pitch == length_ ? static_cast<uint32_t>(at % kGroup) : 0;
    }

    // Of the tile that begins at a row.
    __aicore__ uint32_t rows_from(int64_t row) const {
        const uint32_t rows = row == share_.first ? t_.first : t_.tile;
        const int64_t left = share_.last - row;
        return left < rows ? static_cast<uint32_t>(left) : rows;
    }

    __aicore__ void fetch_ahead() {
        for (; free_ > 0 && next_ < share_.last; --free_) {
            const uint64_t at = static_cast<uint64_t>(next_) * length_;
            const uint32_t rows = rows_from(next_);
            LocalTensor<T> x = inputs_.template AllocTensor<T>();
            load_tile(x, grad_, at, rows);
            load_tile(x[t_.buffer], output_, at, rows);
            inputs_.EnQue(x);
            next_ += rows;
        }
    }

    __aicore__ void tile(int64_t row, uint32_t rows) {
        const bool is_first = row == share_.first, is_last = row + rows == share_.last;
        const uint64_t at = static_cast<uint64_t>(row) * length_;
        LocalTensor<T> x = inputs_.template DeQue<T>();
        const uint32_t start = lead(at);
        const uint32_t count = start + rows * t_.pitch;
        const LocalTensor<float> products = products_.template Get<float>();
        LocalTensor<float> wide;
        if constexpr (!kIsFloat<T>) wide = wide_.template Get<float>();
        const LocalTensor<float> sums = sums_.template Get<float>();

        const LocalTensor<float> grad = this->widened(x, wide, count);
        const LocalTensor<float> output = this->widened(x[t_.buffer], wide[t_.buffer], count);
        Mul(products, grad, output, static_cast<int32_t>(count));
        sum_rows(sums, products, start, rows, length_, t_.pitch, scratch_.template Get<float>());

        subtract_sums(grad, sums, start, rows, length_, t_.pitch);
        const uint32_t carried = is_last || t_.pitch != length_ ? 0 : count % kGroup;
        const uint32_t head = is_first && start > 0 ? kGroup : 0;
        if (head > 0) store_head(sums);
        carry(grad, head > 0 ? 0 : start, count - carried, carried);
        LocalTensor<U> result = results_.template AllocTensor<U>();
        this->finish(result, grad, output, count);
        inputs_.FreeTensor(x);
        ++free_;
        fetch_ahead();
        results_.EnQue(result);
        LocalTensor<U> done = results_.template DeQue<U>();
        this->order_stores();
        if (t_.pitch == length_) {
            const uint32_t left = count - carried - head;
            if (left > 0) this->store_run(at - start + head, done[head], left);
        } else {
            this->store_all(at, done, rows, length_, length_, t_.pitch);
        }
        results_.FreeTensor(done);
    }

    // Differences of the tile before to the first block, those of the last block to the next tile.
    __aicore__ void carry(const LocalTensor<float>& difference, uint32_t start, uint32_t end,
                          uint32_t carried) {
        const LocalTensor<float> carry = carry_.template Get<float>();
        const UnaryRepeatParams params(1, 1, 8, 8);
        if (start > 0) Muls(difference, carry, 1.0f, static_cast<uint64_t>(start), 1, params);
        if (carried == 0) return;
        Muls(carry, difference[end], 1.0f, static_cast<uint64_t>(carried), 1, params);
    }

    // The share's elements in the block that it begins inside, if any.
    __aicore__ void load_head() {
        const uint64_t at = static_cast<uint64_t>(share_.first) * length_;
        const uint32_t start = lead(at);
        if (share_.first >= share_.last || start == 0) return;
        const LocalTensor<T> x = head_inputs_.template Get<T>();
        load(x, grad_[at], kGroup - start);
        load(x[kGroup], output_[at], kGroup - start);
        head_loaded_ = new_event<HardEvent::MTE2_V>();
        SetFlag<HardEvent::MTE2_V>(head_loaded_);
    }
    // sums[0..8): of the share's first row.
    __aicore__ void store_head(const LocalTensor<float>& sums) {
        const uint64_t at = static_cast<uint64_t>(share_.first) * length_;
        const LocalTensor<T> x = head_inputs_.template Get<T>();
        const LocalTensor<float> floats = head_floats_.template Get<float>();
        const LocalTensor<U> result = head_result_.template Get<U>();
        end_event<HardEvent::MTE2_V>(head_loaded_);
        const LocalTensor<float> grad = this->widened(x, floats, kGroup);
        const LocalTensor<float> output = this->widened(x[kGroup], floats[kGroup], kGroup);
        combine_row<false>(grad, sums, 0, kGroup);
        this->finish(result, grad, output, kGroup);
        wait_for<HardEvent::V_MTE3>();
        store(out_[at], result, kGroup - lead(at), result);
    }

    __aicore__ void load_tile(const LocalTensor<T>& to, const GlobalTensor<T>& from, uint64_t at,
                              uint32_t rows) {
        if (t_.pitch == length_) {
            const uint32_t start = lead(at);
            this->load_run(to, from, at - start, start + rows * length_);
        } else {
            load_rows(to, from[at], rows, length_, length_, t_.pitch);
        }
    }

    const uint32_t length_;
    const Share share_;
    int64_t next_;   // row to fetch
    uint32_t free_;  // buffers
    event_t head_loaded_ = EVENT_ID0;
    TBuf<TPosition::VECCALC> products_, wide_, sums_, scratch_, carry_;
    TBuf<TPosition::VECCALC> head_inputs_, head_floats_, head_result_;
};

}  // namespace kernels
