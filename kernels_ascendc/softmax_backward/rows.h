#pragma once

#include "softmax_backward/plane_sums.h"
#include "softmax_backward/row_sums.h"
#include "softmax_backward/tiles.h"

namespace kernels {

// Tiles of whole planes, which are rows where inner == 1, `pitch` elements apart in the buffers: as
// they lie in memory, or, rows, each from a block on. As they lie, copies begin and end at
// multiples of `unit` elements: what is loaded with a tile's last unit stays in the unified buffer,
// and where the next tile begins inside that unit, the whole of it is stored with the next tile.
// Where a core's first row begins inside a block, its part of that block is stored apart. In place
// nothing before that row is loaded, as another core may have stored there already.
template <typename T, typename U>
class SoftmaxRows : SoftmaxTiles<T, U, kSoftmaxMaxQueued> {
    using Base = SoftmaxTiles<T, U, kSoftmaxMaxQueued>;
    using Base::grad_;
    using Base::inputs_;
    using Base::kGroup;
    using Base::out_;
    using Base::output_;
    using Base::results_;
    using Base::t_;

  public:
    __aicore__ SoftmaxRows(TPipe& pipe, const SoftmaxPointers& pointers,
                           const SoftmaxBackwardTiling& tiling)
        : Base(pipe, pointers, tiling),
          plane_(static_cast<uint32_t>(tiling.length * tiling.inner)),
          planes_(plane_, tiling),
          share_(tiling, GetBlockNum(), GetBlockIdx()),
          reads_ahead_(pointers.out != pointers.grad_output && pointers.out != pointers.output),
          next_(share_.first),
          free_(tiling.input_buffers) {
        const uint32_t floats = t_.buffer * static_cast<uint32_t>(sizeof(float));
        pipe.InitBuffer(products_, floats);
        if (!kIsFloat<T>) pipe.InitBuffer(wide_, 2 * floats);
        if (t_.inner > 1) {
            pipe.InitBuffer(scratch_, planes_.scratch_floats(t_.tile) * sizeof(float));
        } else {
            pipe.InitBuffer(sums_, sums_floats(t_.tile) * sizeof(float));
            pipe.InitBuffer(scratch_, scratch_floats(t_.tile) * sizeof(float));
        }
        pipe.InitBuffer(carry_, 2 * t_.unit * static_cast<uint32_t>(sizeof(float)));
    }

    __aicore__ void run() {
        const uint64_t begin = static_cast<uint64_t>(share_.first) * plane_;
        loaded_ = reads_ahead_ ? begin - lead(begin) : begin;
        stored_ = begin;
        fetch_ahead();
        for (int64_t row = share_.first; row < share_.last;) {
            const uint32_t rows = rows_from(row);
            tile(row, rows);
            row += rows;
        }
    }

  private:
    __aicore__ bool is_dense() const { return t_.pitch == plane_; }
    // Elements before a tile that its first unit has.
    __aicore__ uint32_t lead(uint64_t at) const {
        return is_dense() ? static_cast<uint32_t>(at % t_.unit) : 0;
    }

    // Of the tile that begins at a row.
    __aicore__ uint32_t rows_from(int64_t row) const {
        const uint32_t rows = row == share_.first ? t_.first : t_.tile;
        const int64_t left = share_.last - row;
        return left < rows ? static_cast<uint32_t>(left) : rows;
    }

    __aicore__ void fetch_ahead() {
        for (; free_ > 0 && next_ < share_.last; --free_) {
            const uint32_t rows = rows_from(next_);
            LocalTensor<T> x = inputs_.template AllocTensor<T>();
            const uint64_t at = static_cast<uint64_t>(next_) * plane_;
            next_ += rows;
            if (is_dense()) {
                const uint64_t end = end_of_load();
                const auto from = static_cast<uint32_t>(loaded_ - (at - lead(at)));
                const auto count = static_cast<uint32_t>(end > loaded_ ? end - loaded_ : 0);
                load_part(x, from, grad_, count);
                load_part(x[t_.buffer], from, output_, count);
                loaded_ += count;
            } else {
                load_rows(x, grad_[at], rows, plane_, plane_, t_.pitch);
                load_rows(x[t_.buffer], output_[at], rows, plane_, plane_, t_.pitch);
            }
            inputs_.EnQue(x);
        }
    }
    __aicore__ void release(LocalTensor<T>& x) {
        inputs_.FreeTensor(x);
        ++free_;
        fetch_ahead();
    }
    // With the rows before `next_`.
    __aicore__ uint64_t end_of_load() const {
        const uint64_t end = static_cast<uint64_t>(next_) * plane_;
        const uint64_t up_to = (end + t_.unit - 1) / t_.unit * t_.unit;
        const uint64_t last = static_cast<uint64_t>(share_.last) * plane_;
        return up_to < last ? up_to : last;
    }
    // to[at..at + count); what is before it in its block is overwritten.
    __aicore__ void load_part(const LocalTensor<T>& to, uint32_t at, const GlobalTensor<T>& from,
                              uint32_t count) {
        if (count == 0) return;
        const uint32_t skipped = at % kBlock<T>;
        if (skipped > 0) {
            load(to[at - skipped], from[loaded_], count, skipped);
        } else {
            this->load_run(to[at], from, loaded_, count);
        }
    }

    __aicore__ void tile(int64_t row, uint32_t rows) {
        const bool is_first = row == share_.first, is_last = row + rows == share_.last;
        const uint64_t at = static_cast<uint64_t>(row) * plane_;
        LocalTensor<T> x = inputs_.template DeQue<T>();
        const uint32_t start = lead(at);
        const uint32_t count = start + rows * t_.pitch;
        const uint32_t carried = is_last || !is_dense() ? 0 : count % t_.unit;
        const LocalTensor<float> products = products_.template Get<float>();
        LocalTensor<float> wide;
        if constexpr (!kIsFloat<T>) wide = wide_.template Get<float>();

        const uint32_t kept = is_first || start == 0 ? 0 : t_.unit;
        const uint32_t end = carried > 0 ? count - carried + t_.unit : count;
        const LocalTensor<float> grad = joined(x, wide, 0, kept, end);
        const LocalTensor<float> output =
            joined(x[t_.buffer], wide[kIsFloat<T> ? 0 : t_.buffer], t_.unit, kept, end);
        if (!kIsFloat<T>) release(x);
        Mul(products, grad, output, static_cast<int32_t>(count));
        const LocalTensor<float> scratch = scratch_.template Get<float>();
        if (t_.inner > 1) {
            planes_.sum(products, start, rows, scratch);
            planes_.subtract(grad, products, start, rows);
        } else {
            const LocalTensor<float> sums = sums_.template Get<float>();
            sum_rows(sums, products, start, rows, plane_, t_.pitch, scratch);
            subtract_sums(grad, sums, start, rows, plane_, t_.pitch);
        }
        if (carried > 0) {
            const LocalTensor<float> carry = carry_.template Get<float>();
            DataCopy(carry, grad[count - carried], t_.unit);
            DataCopy(carry[t_.unit], output[count - carried], t_.unit);
        }
        LocalTensor<U> result = results_.template AllocTensor<U>();
        this->finish(result, grad, output, count);
        if (kIsFloat<T>) release(x);
        const uint32_t head = is_first ? start % kGroup : 0;
        if (head > 0) this->pack_head(result, start - head, head);
        results_.EnQue(result);
        LocalTensor<U> done = results_.template DeQue<U>();
        this->order_stores();
        if (head > 0) {
            this->store_head(stored_, done, kGroup - head);
            stored_ += kGroup - head;
        }
        if (is_dense()) {
            store_part(at - start, done, count - carried);
        } else {
            this->store_all(at, done, rows, plane_, plane_, t_.pitch);
        }
        results_.FreeTensor(done);
    }

    // data[0..end) as floats, of which [0..kept) are those from `carry_`[place] on.
    __aicore__ LocalTensor<float> joined(const LocalTensor<T>& data, const LocalTensor<float>& wide,
                                         uint32_t place, uint32_t kept, uint32_t end) {
        LocalTensor<float> all;
        if constexpr (kIsFloat<T>) {
            all = data;
        } else {
            all = wide;
            if (kept < end) Cast(wide[kept], data[kept], RoundMode::CAST_NONE, end - kept);
        }
        if (kept > 0) DataCopy(all, carry_.template Get<float>()[place], kept);
        return all;
    }

    // Of what begins at `at` in memory, what is not stored yet.
    __aicore__ void store_part(uint64_t at, const LocalTensor<U>& data, uint32_t end) {
        const auto begin = static_cast<uint32_t>(stored_ - at);
        if (begin >= end) return;
        this->store_run(stored_, data[begin], end - begin);
        stored_ += end - begin;
    }

    const uint32_t plane_;  // elements of a row, or of a plane
    const PlaneSums planes_;
    const TeamShare share_;
    const bool reads_ahead_;
    int64_t next_;                      // row to fetch
    uint32_t free_;                     // buffers
    uint64_t loaded_ = 0, stored_ = 0;  // up to these elements, as they lie
    TBuf<TPosition::VECCALC> products_, wide_, sums_, scratch_, carry_;
};

}  // namespace kernels
