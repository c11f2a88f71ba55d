#pragma once

#include "softmax_backward/tiles.h"

namespace kernels {

// inner == 1: tiles of whole rows, `pitch` elements apart in the buffers.
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
        for (int64_t row = share.first; row < share.last; row += t_.tile) {
            const int64_t left = share.last - row;
            tile(row, left < t_.tile ? static_cast<uint32_t>(left) : t_.tile);
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
        load_rows(x, grad_[at], rows, length_, length_, t_.pitch);
        load_rows(x[t_.buffer], output_[at], rows, length_, length_, t_.pitch);
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
        fold_rows(products, rows, length_, kFloatsPerRepeat, t_.pitch);
        sum_rows(sums, products, rows, at_most(length_, kFloatsPerRepeat), t_.pitch,
                 scratch_.template Get<float>());

        grad = this->widened(x, products, count);
        subtract_sums(grad, sums, rows);
        LocalTensor<U> result = results_.template AllocTensor<U>();
        this->finish(result, grad, output, count);
        inputs_.FreeTensor(x);
        results_.EnQue(result);
        LocalTensor<U> done = results_.template DeQue<U>();
        this->order_stores();
        store_rows(out_[at], done, rows, length_, length_, t_.pitch, this->tail_);
        results_.FreeTensor(done);
    }

    __aicore__ void subtract_sums(const LocalTensor<float>& data, const LocalTensor<float>& sums,
                                  uint32_t rows) {
        const uint32_t step = t_.pitch / kFloatsPerBlock;
        constexpr auto kSumStep = static_cast<uint8_t>(kSumPitch / kFloatsPerBlock);
        if (step <= kMaxStride && rows * kFloatsPerRepeat > length_) {
            const auto stride = static_cast<uint8_t>(step);
            const BinaryRepeatParams params(1, 1, 0, stride, stride, kSumStep);
            for (uint32_t r = 0; r < rows; r += kMaxRepeat) {
                const auto repeats = static_cast<uint8_t>(at_most(rows - r, kMaxRepeat));
                for (uint32_t i = 0; i < length_; i += kFloatsPerRepeat) {
                    const LocalTensor<float> target = data[r * t_.pitch + i];
                    const uint64_t mask = at_most(length_ - i, kFloatsPerRepeat);
                    Sub(target, target, sums[r * kSumPitch], mask, repeats, params);
                }
            }
            return;
        }
        for (uint32_t r = 0; r < rows; ++r) {
            subtract_scalar(data[r * t_.pitch], sums[r * kSumPitch], length_);
        }
    }

    const uint32_t length_;
    TBuf<TPosition::VECCALC> products_, wide_, sums_, scratch_;
};

}  // namespace kernels
