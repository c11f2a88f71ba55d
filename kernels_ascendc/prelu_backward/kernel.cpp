// grad_input and grad_weight of PReLU; the formulas stand in csrc/ops/prelu_backward/op.h.
#include "common/channel_sum.h"

namespace kernels {

template <typename T>
class PreluElement {
  public:
    using Type = T;
    using Vector = T;
    static constexpr uint32_t kSums = 1;
    static constexpr bool kWrites = true;
    static constexpr bool kSplits = false;
    static constexpr uint32_t kWork = sizeof(T) == sizeof(float) ? 1 : 2;

    __aicore__ inline PreluElement(TPipe& pipe, uint32_t tile, GM_ADDR grad_weight) {
        pipe.InitBuffer(positive_, round_up(tile / 8, kBlockBytes));
        pipe.InitBuffer(zeros_, kRepeatFloats * sizeof(float));
        Duplicate(zeros_.Get<float>(), 0.0f, static_cast<int32_t>(kRepeatFloats));
        grad_weight_.SetGlobalBuffer((__gm__ T*)grad_weight);
    }

    // first: grad_output; second: input, then grad_input; vector: weight.
    __aicore__ inline void begin(const ElementTiles<T>&, uint32_t, bool) {}
    __aicore__ inline void operator()(const ElementTiles<T>& tiles, uint32_t count, bool first) {
        if constexpr (sizeof(T) == sizeof(float)) {
            select(tiles, tiles.first, tiles.second, tiles.work[0], count, first);
        } else {
            Cast(tiles.work[0], tiles.first, RoundMode::CAST_NONE, count);
            Cast(tiles.work[1], tiles.second, RoundMode::CAST_NONE, count);
            select(tiles, tiles.work[0], tiles.work[1], tiles.work[1], count, first);
            Cast(tiles.second, tiles.work[1], kRound, count);
        }
    }

    __aicore__ inline void load(const LocalTensor<float>&, uint32_t, int64_t, uint32_t) {}

    __aicore__ inline void finish(const LocalTensor<float>& sums, const LocalTensor<float>& free,
                                  uint32_t, int64_t channel, uint32_t count, bool) {
        LocalTensor<T> result;
        if constexpr (sizeof(T) == sizeof(float)) {
            result = sums;
        } else {
            result = free.template ReinterpretCast<T>();
            Cast(result, sums, kRound, count);
        }
        wait_for<HardEvent::V_MTE3>();
        store(grad_weight_[channel], result, count,
              free[round_up(count, kLanes)].template ReinterpretCast<T>());
    }

  private:
    static constexpr RoundMode kRound =
        IsSameType<T, half>::value ? RoundMode::CAST_NONE : RoundMode::CAST_RINT;

    // x = grad_input. Selects, so that a branch not taken leaves no trace, not even its infinity
    // times 0. Overwrites whole repeats of `product`, which may be x if no other tile follows
    // there.
    __aicore__ inline void select(const ElementTiles<T>& tiles, const LocalTensor<float>& g,
                                  const LocalTensor<float>& x,
                                  [[maybe_unused]] const LocalTensor<float>& product,
                                  uint32_t elements, bool first) {
        const uint32_t repeats = (elements + kRepeatFloats - 1) / kRepeatFloats;
        const LocalTensor<uint8_t> positive = positive_.Get<uint8_t>();
        const LocalTensor<float> zeros = zeros_.Get<float>();
#if __CCE_AICORE__ == 100
        // This product selects by one repeat's bits at a time.
        const BinaryRepeatParams params;
        for (uint32_t i = 0; i < repeats; ++i) {
            const uint32_t at = i * kRepeatFloats;
            const uint32_t left = elements - at;
            const auto part = static_cast<int32_t>(left < kRepeatFloats ? left : kRepeatFloats);
            const LocalTensor<float> here = x[at];
            Compare(positive, here, zeros, CMPMODE::GT, kRepeatFloats);
            const auto mask = static_cast<uint64_t>(part);
            Mul(here, here, g[at], part);
            Select(here, positive, zeros, here, SELMODE::VSEL_CMPMASK_SPR, mask, 1, params);
            if (first) {
                copy_floats(tiles.sums[0][at], here, static_cast<uint32_t>(part));
            } else {
                Add(tiles.sums[0][at], tiles.sums[0][at], here, part);
            }
            Mul(here, tiles.vector[at], g[at], part);
            Select(here, positive, g[at], here, SELMODE::VSEL_CMPMASK_SPR, mask, 1, params);
        }
#else
        const auto count = static_cast<int32_t>(elements);
        CompareScalar(positive, x, 0.0f, CMPMODE::GT, repeats * kRepeatFloats);
        Mul(product, x, g, count);
        Select(product, positive, zeros, product, SELMODE::VSEL_TENSOR_TENSOR_MODE, kRepeatFloats,
               static_cast<uint8_t>(repeats), BinaryRepeatParams(1, 1, 1, 8, 0, 8));
        if (first) {
            copy_floats(tiles.sums[0], product, elements);
        } else {
            Add(tiles.sums[0], tiles.sums[0], product, count);
        }
        Mul(x, tiles.vector, g, count);
        Select(x, positive, g, x, SELMODE::VSEL_TENSOR_TENSOR_MODE, elements);
#endif
    }

    TBuf<TPosition::VECCALC> positive_, zeros_;
    GlobalTensor<T> grad_weight_;
};

template <typename T>
__aicore__ inline void prelu_backward(GM_ADDR grad_output, GM_ADDR input, GM_ADDR weight,
                                      GM_ADDR grad_input, GM_ADDR grad_weight, GM_ADDR workspace,
                                      const ChannelSumTiling& tiling) {
    TPipe pipe;
    PreluElement<T> element(pipe, tiling.tile, grad_weight);
    ChannelSum<PreluElement<T>> sum(pipe, tiling, element,
                                    {grad_output, input, grad_input, weight, workspace});
    sum.run();
}

}  // namespace kernels

#define PRELU_BACKWARD(name, T)                                                                    \
    extern "C" __global__ __aicore__ void name(GM_ADDR grad_output, GM_ADDR input, GM_ADDR weight, \
                                               GM_ADDR grad_input, GM_ADDR grad_weight,            \
                                               GM_ADDR workspace, ChannelSumTiling tiling) {       \
        KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);                                         \
        kernels::prelu_backward<T>(grad_output, input, weight, grad_input, grad_weight, workspace, \
                                   tiling);                                                        \
    }

PRELU_BACKWARD(prelu_backward_float32, float)
PRELU_BACKWARD(prelu_backward_float16, half)
#if __CCE_AICORE__ == 220
PRELU_BACKWARD(prelu_backward_bfloat16, bfloat16_t)
#endif
