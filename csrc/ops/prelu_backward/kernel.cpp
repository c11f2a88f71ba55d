#include "isa/channel_sum.h"
#include "isa/strided_run.h"
#include "ops/prelu_backward/op.h"

namespace ascend_grad {
namespace {

template <class Type>
struct PreluElement {
    using T = Type;
    static constexpr int kSums = 1;
    static constexpr bool kWrites = true;
    static constexpr bool kZeroPads = true;  // x = g = 0 contributes 0 * 0

    AG_INLINE Lanes operator()(Lanes g, Lanes x, Lanes weight, Lanes* terms) const {
        terms[0] = select_positive(x, splat(0.0f), x * g);
        return select_positive(x, g, weight * g);
    }
};

// All of them, in sixteen interleaved chains that are added in order.
inline float add_all(const float* values, int64_t count) {
    double chains[kLanes] = {};
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
        for (int j = 0; j < kLanes; ++j) chains[j] += static_cast<double>(values[i + j]);
    }
    for (int j = 0; i < count; ++i, ++j) chains[j] += static_cast<double>(values[i]);
    double total = 0.0;
    for (double chain : chains) total += chain;
    return static_cast<float>(total);
}

template <class T>
struct PreluBackwardKernel {
    using Op = PreluBackward;

    static void accumulate(const Op::Plan& plan, void* const* addresses, float* partials,
                           bool streaming, int64_t begin, int64_t end) {
        if constexpr (!kIsCompact) {
            if (plan.is_elementwise && !streaming)
                return accumulate_elements(plan, addresses, begin, end);
        }
        char* const operands[] = {static_cast<char*>(addresses[Op::kGradOutput]),
                                  static_cast<char*>(addresses[Op::kSelf]),
                                  static_cast<char*>(addresses[Op::kGradInput])};
        const PreluElement<T> element;
        ChannelSum<PreluElement<T>> sum(plan.sums, element, operands, streaming);
        const auto load = [&](float* weight, int64_t first, int n) {
            load_weights(plan, static_cast<const char*>(addresses[Op::kWeight]), weight, first, n);
        };
        sum.run(begin, end, partials, load, [&](const Partials& sums, int64_t first, int64_t last) {
            finish_channels(plan, addresses, sums, first, last);
        });
    }

    // The same of channels of one element, all of them neighbours.
    static void accumulate_elements(const Op::Plan& plan, void* const* addresses, int64_t begin,
                                    int64_t end) {
        const auto of = [&](int tensor) { return static_cast<T*>(addresses[tensor]); };
        const T *grad = of(Op::kGradOutput), *self = of(Op::kSelf), *weight = of(Op::kWeight);
        T *grad_input = of(Op::kGradInput), *grad_weight = of(Op::kGradWeight);
        const PreluElement<T> element;
        const auto both = [&](LanePair g, LanePair x, LanePair w, LanePair* term) AG_INLINE_LAMBDA {
            return LanePair{element(g.low, x.low, w.low, &term->low),
                            element(g.high, x.high, w.high, &term->high)};
        };
        const LanePair zero = {splat(0.0f), splat(0.0f)};  // added, so that no sum is -0
        int64_t c = begin * plan.sums.channel_tile;
        const int64_t last = least(end * plan.sums.channel_tile, plan.channels);
        LanePair term;
        for (; c + kPairLanes <= last; c += kPairLanes) {
            const LanePair value =
                both(load_pair(grad + c), load_pair(self + c), load_pair(weight + c), &term);
            store_pair(grad_input + c, value);
            store_pair(grad_weight + c, term + zero);
        }
        if (c == last) return;
        const int n = static_cast<int>(last - c);
        const LanePair value = both(load_first_pair(grad + c, n), load_first_pair(self + c, n),
                                    load_first_pair(weight + c, n), &term);
        store_first_pair(grad_input + c, value, n);
        store_first_pair(grad_weight + c, term + zero, n);
    }

    static void finish(const Op::Plan& plan, void* const* addresses, float* partials, int64_t begin,
                       int64_t end) {
        if (plan.one_weight) {
            write_as<T>(static_cast<char*>(addresses[Op::kGradWeight]),
                        add_all(partials, plan.sums.partial_count()));
            return;
        }
        finish_channels(plan, addresses, {partials, plan.channels, 0}, begin * kFinishTile,
                        least(end * kFinishTile, plan.channels));
    }
    static void finish_channels(const Op::Plan& plan, void* const* addresses,
                                const Partials& partials, int64_t begin, int64_t end) {
        char* grad_weight = static_cast<char*>(addresses[Op::kGradWeight]);
        for (int64_t first = begin; first < end; first += kFinishTile) {
            const int64_t last = least(first + kFinishTile, end);
            float totals[kFinishTile];
            add_blocks(plan.sums, partials, 0, first, last, totals);
            if (plan.grad_weight.count <= 1) {
                store_run<T>(grad_weight + plan.grad_weight.offset(first, 0),
                             plan.grad_weight.stride[0][0], totals, static_cast<int>(last - first));
                continue;
            }
            for (int64_t c = first; c < last; ++c)
                write_as<T>(grad_weight + plan.grad_weight.offset(c, 0), totals[c - first]);
        }
    }

    // Of n channels.
    static void load_weights(const Op::Plan& plan, const char* from, float* to, int64_t first,
                             int n) {
        if (plan.one_weight || plan.weight.count <= 1) {
            const int64_t stride = plan.one_weight ? 0 : plan.weight.stride[0][0];
            load_run<T>(to, from + first * stride, stride, n);
            return;
        }
        for (int c = 0; c < n; ++c) to[c] = read_as<T>(from + plan.weight.offset(first + c, 0));
    }

    static constexpr Op::Kernels kernels() { return {accumulate, finish}; }
};

}  // namespace

const PreluBackward::Kernels KERNELS::prelu_backward[kKernelDtypes] =
    OF_EACH_DTYPE(PreluBackwardKernel);

}  // namespace ascend_grad
