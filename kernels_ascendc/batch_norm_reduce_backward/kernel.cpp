// sum_dy, sum_dy_xmu, grad_weight and grad_bias of batch normalisation; the formulas stand in
// csrc/ops/batch_norm_reduce_backward/op.h.
#include "common/channel_sum.h"

namespace kernels {

template <typename T>
class BatchNormElement {
  public:
    using Type = T;
    using Vector = float;
    static constexpr uint32_t kSums = 2;
    static constexpr bool kWrites = false;
    static constexpr uint32_t kWork = sizeof(T) == sizeof(float) ? 0 : 2;
    static constexpr bool kSplits = true;

    __aicore__ inline BatchNormElement(GM_ADDR invstd, GM_ADDR sum_dy, GM_ADDR sum_dy_xmu,
                                       GM_ADDR grad_weight, GM_ADDR grad_bias)
        : wanted_{sum_dy != nullptr, sum_dy_xmu != nullptr, grad_weight != nullptr,
                  grad_bias != nullptr} {
        invstd_.SetGlobalBuffer((__gm__ float*)invstd);
        results_[kSumDy].SetGlobalBuffer((__gm__ float*)sum_dy);
        results_[kSumDyXmu].SetGlobalBuffer((__gm__ float*)sum_dy_xmu);
        results_[kGradWeight].SetGlobalBuffer((__gm__ float*)grad_weight);
        results_[kGradBias].SetGlobalBuffer((__gm__ float*)grad_bias);
    }

    // first: dy; second: x; vector: mean.
    __aicore__ inline void begin(const ElementTiles<T>& tiles, uint32_t elements, bool first) {
        const auto count = static_cast<int32_t>(elements);
        if constexpr (sizeof(T) == sizeof(float)) {
            if (first) {
                copy_floats(tiles.sums[0], tiles.first, elements);
            } else {
                Add(tiles.sums[0], tiles.sums[0], tiles.first, count);
            }
        } else {
            resume(tiles, elements);
            if (first) {
                copy_floats(tiles.sums[0], tiles.work[0], elements);
            } else {
                Add(tiles.sums[0], tiles.sums[0], tiles.work[0], count);
            }
        }
    }
    __aicore__ inline void resume(const ElementTiles<T>& tiles, uint32_t elements) {
        if constexpr (sizeof(T) != sizeof(float))
            Cast(tiles.work[0], tiles.first, RoundMode::CAST_NONE, elements);
    }
    __aicore__ inline void operator()(const ElementTiles<T>& tiles, uint32_t elements, bool first) {
        if constexpr (sizeof(T) == sizeof(float)) {
            add_products(tiles, tiles.first, tiles.second, static_cast<int32_t>(elements), first);
        } else {
            Cast(tiles.work[1], tiles.second, RoundMode::CAST_NONE, elements);
            add_products(tiles, tiles.work[0], tiles.work[1], static_cast<int32_t>(elements),
                         first);
        }
    }

    __aicore__ inline void load(const LocalTensor<float>& free, uint32_t sum, int64_t channel,
                                uint32_t count) {
        if (sum == kDyXmu && wanted_[kGradWeight]) kernels::load(free, invstd_[channel], count);
    }

    __aicore__ inline void finish(const LocalTensor<float>& sums, const LocalTensor<float>& free,
                                  uint32_t sum, int64_t channel, uint32_t count, bool empty) {
        const LocalTensor<float> tail = free[round_up(count, kBlock<float>)];
        wait_for<HardEvent::V_MTE3>();
        if (sum == kDy) {
            if (wanted_[kSumDy]) store(results_[kSumDy][channel], sums, count, tail);
            if (wanted_[kGradBias]) store(results_[kGradBias][channel], sums, count, tail);
            return;
        }
        if (wanted_[kSumDyXmu]) store(results_[kSumDyXmu][channel], sums, count, tail);
        if (!wanted_[kGradWeight]) return;
        if (empty) {
            Duplicate(free, 0.0f, static_cast<int32_t>(count));
        } else {
            Mul(free, free, sums, static_cast<int32_t>(count));
        }
        wait_for<HardEvent::V_MTE3>();
        store(results_[kGradWeight][channel], free, count, tail);
    }

  private:
    enum Sum : uint32_t { kDy, kDyXmu };
    enum Result : uint32_t { kSumDy, kSumDyXmu, kGradWeight, kGradBias };

    // x is overwritten.
    __aicore__ inline void add_products(const ElementTiles<T>& tiles, const LocalTensor<float>& dy,
                                        const LocalTensor<float>& x, int32_t count, bool first) {
        Sub(x, x, tiles.vector, count);
        if (first) {
            Mul(tiles.sums[1], x, dy, count);
            return;
        }
#if __CCE_AICORE__ == 100
        Mul(x, x, dy, count);
        Add(tiles.sums[1], tiles.sums[1], x, count);
#else
        MulAddDst(tiles.sums[1], x, dy, count);
#endif
    }

    bool wanted_[4];
    GlobalTensor<float> invstd_, results_[4];
};

template <typename T>
__aicore__ inline void batch_norm_reduce_backward(GM_ADDR grad_out, GM_ADDR input, GM_ADDR mean,
                                                  GM_ADDR invstd, GM_ADDR sum_dy,
                                                  GM_ADDR sum_dy_xmu, GM_ADDR grad_weight,
                                                  GM_ADDR grad_bias, GM_ADDR workspace,
                                                  const ChannelSumTiling& tiling) {
    TPipe pipe;
    BatchNormElement<T> element(invstd, sum_dy, sum_dy_xmu, grad_weight, grad_bias);
    ChannelSum<BatchNormElement<T>> sum(pipe, tiling, element,
                                        {grad_out, input, nullptr, mean, workspace});
    sum.run();
}

}  // namespace kernels

#define BATCH_NORM_REDUCE_BACKWARD(name, T)                                                        \
    extern "C" __global__ __aicore__ void name(GM_ADDR grad_out, GM_ADDR input, GM_ADDR mean,      \
                                               GM_ADDR invstd, GM_ADDR sum_dy, GM_ADDR sum_dy_xmu, \
                                               GM_ADDR grad_weight, GM_ADDR grad_bias,             \
                                               GM_ADDR workspace, ChannelSumTiling tiling) {       \
        KERNELS_WITH_BARRIER();                                                                    \
        kernels::batch_norm_reduce_backward<T>(grad_out, input, mean, invstd, sum_dy, sum_dy_xmu,  \
                                               grad_weight, grad_bias, workspace, tiling);         \
    }

BATCH_NORM_REDUCE_BACKWARD(batch_norm_reduce_backward_float32, float)
BATCH_NORM_REDUCE_BACKWARD(batch_norm_reduce_backward_float16, half)
#if __CCE_AICORE__ == 220
BATCH_NORM_REDUCE_BACKWARD(batch_norm_reduce_backward_bfloat16, bfloat16_t)
#endif
