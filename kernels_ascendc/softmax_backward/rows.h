#pragma once

#include "softmax_backward/row_sums.h"
#include "softmax_backward/tiles.h"

namespace kernels {

// inner == 1: tiles of whole rows, `pitch` elements apart in the buffers: as they lie in memory, or
// each from a block on.
template <typename T, typename U>
class SoftmaxRows : SoftmaxTiles<T, U> {
    using Base = SoftmaxTiles<T, U>;
    using Base::grad_;
    using Base::inputs_;
    using Base::out_;
    using Base::output_;
    using Base::results_;
    using Base::t_;

  public:
    __aicore__ SoftmaxRows(TPipe& pipe, const SoftmaxPointers& pointers,
                           const SoftmaxBackwardTiling& tiling)
        : Base(pipe, pointers, tiling), length_(static_cast<uint32_t>(tiling.length)) {
        const uint32_t floats = t_.buffer * static_cast<uint32_t>(sizeof(float));
        pipe.InitBuffer(products_, floats);
        if (!kIsFloat<T>) pipe.InitBuffer(wide_, floats);
        pipe.InitBuffer(sums_, round_up(t_.tile, kLanes) * kLanes * sizeof(float));
        pipe.InitBuffer(scratch_, scratch_floats() * sizeof(float));
    }

    __aicore__ void run() {
        const Share share(t_, GetBlockNum(), GetBlockIdx());
        uint32_t rows = t_.first;
        for (int64_t row = share.first; row < share.last; row += rows) {
            if (row > share.first) rows = t_.tile;
            if (rows > share.last - row) rows = static_cast<uint32_t>(share.last - row);
            tile(row, rows);
        }
    }

  private:
    // On 910A the transposition takes its own 16 x 16 floats twice.
    __aicore__ uint32_t scratch_floats() const {
        return __CCE_AICORE__ == 100 ? 2 * kLanes * kLanes : round_up(t_.tile, kLanes);
    }

    __aicore__ void tile(int64_t row, uint32_t rows) {
        const uint64_t at = static_cast<uint64_t>(row) * length_;
        LocalTensor<T> x = inputs_.template AllocTensor<T>();
        load_tile(x, grad_, at, rows);
        load_tile(x[t_.buffer], output_, at, rows);
        inputs_.EnQue(x);
        x = inputs_.template DeQue<T>();
        const uint32_t count = rows * t_.pitch;
        const LocalTensor<float> products = products_.template Get<float>();
        LocalTensor<float> wide;
        if constexpr (!kIsFloat<T>) wide = wide_.template Get<float>();
        const LocalTensor<float> sums = sums_.template Get<float>();

        LocalTensor<float> grad = this->widened(x, products, count);
        const LocalTensor<float> output = this->widened(x[t_.buffer], wide, count);
        Mul(products, grad, output, static_cast<int32_t>(count));
        sum_rows(sums, products, rows, length_, t_.pitch, scratch_.template Get<float>());

        grad = this->widened(x, products, count);
        subtract_sums(grad, sums, rows, length_, t_.pitch);
        LocalTensor<U> result = results_.template AllocTensor<U>();
        this->finish(result, grad, output, count);
        inputs_.FreeTensor(x);
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
    TBuf<TPosition::VECCALC> products_, wide_, sums_, scratch_;
};

}  // namespace kernels
