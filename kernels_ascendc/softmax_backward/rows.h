#pragma once

#include "softmax_backward/row_sums.h"
#include "softmax_backward/tiles.h"

namespace kernels {

// inner == 1: tiles of whole rows, `pitch` elements apart in the buffers: as they lie in memory, or
// each from a block on.
template <typename T, typename U>
class SoftmaxRows : SoftmaxTiles<T, U, kMaxQueued> {
    using Base = SoftmaxTiles<T, U, kMaxQueued>;
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
        pipe.InitBuffer(sums_, round_up(t_.tile, kLanes) * kLanes * sizeof(float));
        pipe.InitBuffer(scratch_, scratch_floats() * sizeof(float));
    }

    __aicore__ void run() {
        fetch_ahead();
        for (int64_t row = share_.first; row < share_.last; row += rows_from(row)) {
            tile(static_cast<uint64_t>(row) * length_, rows_from(row));
        }
    }

  private:
    // On 910A the transposition takes its own 16 x 16 floats twice.
    __aicore__ uint32_t scratch_floats() const {
        return __CCE_AICORE__ == 100 ? 2 * kLanes * kLanes : round_up(t_.tile, kLanes);
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

    __aicore__ void tile(uint64_t at, uint32_t rows) {
        LocalTensor<T> x = inputs_.template DeQue<T>();
        const uint32_t count = rows * t_.pitch;
        const LocalTensor<float> products = products_.template Get<float>();
        LocalTensor<float> wide;
        if constexpr (!kIsFloat<T>) wide = wide_.template Get<float>();
        const LocalTensor<float> sums = sums_.template Get<float>();

        const LocalTensor<float> grad = this->widened(x, wide, count);
        const LocalTensor<float> output = this->widened(x[t_.buffer], wide[t_.buffer], count);
        Mul(products, grad, output, static_cast<int32_t>(count));
        sum_rows(sums, products, rows, length_, t_.pitch, scratch_.template Get<float>());

        subtract_sums(grad, sums, rows, length_, t_.pitch);
        LocalTensor<U> result = results_.template AllocTensor<U>();
        this->finish(result, grad, output, count);
        inputs_.FreeTensor(x);
        ++free_;
        fetch_ahead();
        results_.EnQue(result);
        LocalTensor<U> done = results_.template DeQue<U>();
        this->order_stores();
        if (t_.pitch == length_) {
            this->store_run(at, done, rows * length_);
        } else {
            this->store_all(at, done, rows, length_, length_, t_.pitch);
        }
        results_.FreeTensor(done);
    }

    __aicore__ void load_tile(const LocalTensor<T>& to, const GlobalTensor<T>& from, uint64_t at,
                              uint32_t rows) {
        if (t_.pitch == length_) {
            this->load_run(to, from, at, rows * length_);
        } else {
            load_rows(to, from[at], rows, length_, length_, t_.pitch);
        }
    }

    const uint32_t length_;
    const Share share_;
    int64_t next_;   // row to fetch
    uint32_t free_;  // buffers
    TBuf<TPosition::VECCALC> products_, wide_, sums_, scratch_;
};

}  // namespace kernels
