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

    __aicore__ inline PreluElement(TPipe& pipe, const ChannelSumTiling& tiling,
                                   GM_ADDR grad_weight) {
#if __CCE_AICORE__ == 100
        pipe.InitBuffer(positive_, kWork * tiling.work * sizeof(float));
        pipe.InitBuffer(constants_, 3 * kFloatsPerRepeat * sizeof(float));
        for (uint32_t i = 0; i < 3; ++i) Duplicate(constant(i), kConstants[i], kFloatsPerRepeat);
#else
        pipe.InitBuffer(positive_, round_up(tiling.tile / 8, kBlockBytes));
        pipe.InitBuffer(constants_, kFloatsPerRepeat * sizeof(float));
        Duplicate(constants_.Get<float>(), 0.0f, static_cast<int32_t>(kFloatsPerRepeat));
#endif
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
#if __CCE_AICORE__ == 100
    // This product selects by the bits of one repeat only, so masks of whole floats do.
    __aicore__ inline void select(const ElementTiles<T>& tiles, const LocalTensor<float>& g,
                                  const LocalTensor<float>& x, const LocalTensor<float>&,
                                  uint32_t elements, bool first) {
        const auto count = static_cast<int32_t>(elements), halves = 2 * count;
        const LocalTensor<int32_t> is = positive_.Get<int32_t>();
        LocalTensor<int32_t> is_not;
        if constexpr (sizeof(T) == sizeof(float)) {
            is_not = tiles.work[0].template ReinterpretCast<int32_t>();
        } else {
            is_not = is[round_up(elements, kFloatsPerRepeat)];
        }
        find_positive(is, is_not, x.template ReinterpretCast<int32_t>(), elements);
        const LocalTensor<uint16_t> yes = is.ReinterpretCast<uint16_t>();
        const LocalTensor<uint16_t> no = is_not.ReinterpretCast<uint16_t>();
        const LocalTensor<uint16_t> bits = x.template ReinterpretCast<uint16_t>();
        Mul(x, x, g, count);
        And(bits, bits, no, halves);
        if (first) {
            copy_floats(tiles.sums[0], x, elements);
        } else {
            Add(tiles.sums[0], tiles.sums[0], x, count);
        }
        Mul(x, tiles.vector, g, count);
        And(bits, bits, no, halves);
        And(yes, yes, g.template ReinterpretCast<uint16_t>(), halves);
        Or(bits, bits, yes, halves);
    }

    // is[i] = -1 where the float of these bits is positive, else 0; is_not[i] the reverse. Writes
    // whole repeats, at most 255: tiles have fewer. As integers, floats above 0 are
    // those from 1 to infinity, and NaNs lie beyond.
    __aicore__ inline void find_positive(const LocalTensor<int32_t>& is,
                                         const LocalTensor<int32_t>& is_not,
                                         const LocalTensor<int32_t>& bits, uint32_t elements) {
        const auto repeats =
            static_cast<uint8_t>((elements + kFloatsPerRepeat - 1) / kFloatsPerRepeat);
        const BinaryRepeatParams params(1, 1, 1, 8, 8, 0);
        Max(is_not, bits, constant(kZero), kFloatsPerRepeat, repeats, params);
        Sub(is, is_not, constant(kInfinity), kFloatsPerRepeat, repeats, params);
        Max(is, is, constant(kZero), kFloatsPerRepeat, repeats, params);
        Min(is, is, constant(kOne), kFloatsPerRepeat, repeats, params);
        Min(is_not, is_not, constant(kOne), kFloatsPerRepeat, repeats, params);
        Sub(is, is, is_not, static_cast<int32_t>(elements));
        Not(is_not.ReinterpretCast<uint16_t>(), is.ReinterpretCast<uint16_t>(),
            static_cast<int32_t>(2 * elements));
    }

    enum Constant : uint32_t { kZero, kOne, kInfinity };
    static constexpr int32_t kConstants[] = {0, 1, 0x7f800000};
    __aicore__ inline LocalTensor<int32_t> constant(uint32_t i) {
        return constants_.Get<int32_t>()[i * kFloatsPerRepeat];
    }
#else
    __aicore__ inline void select(const ElementTiles<T>& tiles, const LocalTensor<float>& g,
                                  const LocalTensor<float>& x, const LocalTensor<float>& product,
                                  uint32_t elements, bool first) {
        const uint32_t repeats = (elements + kFloatsPerRepeat - 1) / kFloatsPerRepeat;
        const LocalTensor<uint8_t> positive = positive_.Get<uint8_t>();
        const LocalTensor<float> zeros = constants_.Get<float>();
        const auto count = static_cast<int32_t>(elements);
        CompareScalar(positive, x, 0.0f, CMPMODE::GT, repeats * kFloatsPerRepeat);
        Mul(product, x, g, count);
        Select(product, positive, zeros, product, SELMODE::VSEL_TENSOR_TENSOR_MODE,
               kFloatsPerRepeat, static_cast<uint8_t>(repeats),
               BinaryRepeatParams(1, 1, 1, 8, 0, 8));
        if (first) {
            copy_floats(tiles.sums[0], product, elements);
        } else {
            Add(tiles.sums[0], tiles.sums[0], product, count);
        }
        Mul(x, tiles.vector, g, count);
        Select(x, positive, g, x, SELMODE::VSEL_TENSOR_TENSOR_MODE, elements);
    }
#endif

    TBuf<TPosition::VECCALC> positive_, constants_;
    GlobalTensor<T> grad_weight_;
};

template <typename T>
__aicore__ inline void prelu_backward(GM_ADDR grad_output, GM_ADDR input, GM_ADDR weight,
                                      GM_ADDR grad_input, GM_ADDR grad_weight, GM_ADDR workspace,
                                      const ChannelSumTiling& tiling) {
    TPipe pipe;
    PreluElement<T> element(pipe, tiling, grad_weight);
    ChannelSum<PreluElement<T>> sum(pipe, tiling, element,
                                    {grad_output, input, grad_input, weight, workspace});
    sum.run();
}

}  // namespace kernels

#define PRELU_BACKWARD(name, T)                                                                    \
    extern "C" __global__ __aicore__ void name(GM_ADDR grad_output, GM_ADDR input, GM_ADDR weight, \
                                               GM_ADDR grad_input, GM_ADDR grad_weight,            \
                                               GM_ADDR workspace, ChannelSumTiling tiling) {       \
        KERNELS_WITH_BARRIER();                                                                    \
        kernels::prelu_backward<T>(grad_output, input, weight, grad_input, grad_weight, workspace, \
                                   tiling);                                                        \
    }

PRELU_BACKWARD(prelu_backward_float32, float)
PRELU_BACKWARD(prelu_backward_float16, half)
#if __CCE_AICORE__ == 220
PRELU_BACKWARD(prelu_backward_bfloat16, bfloat16_t)
#endif
