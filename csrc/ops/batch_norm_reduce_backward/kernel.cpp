#include "isa/channel_sum.h"
#include "isa/strided_run.h"
#include "ops/batch_norm_reduce_backward/op.h"

namespace ascend_grad {
namespace {

template <class Type>
struct BatchNormReduceElement {
    using T = Type;
    static constexpr int kSums = 2;
    static constexpr bool kWrites = false;
    static constexpr bool kZeroPads = false;  // 0 * (0 - mean) is NaN for an infinite mean

    AG_INLINE Lanes operator()(Lanes dy, Lanes x, Lanes mean, Lanes* terms) const {
        terms[0] = dy;
        terms[1] = dy * (x - mean);
        return dy;
    }
};

template <class T>
struct BatchNormReduceBackwardKernel {
    using Op = BatchNormReduceBackward;

    static void accumulate(const Op::Plan& plan, void* const* addresses, float* partials,
                           int64_t begin, int64_t end) {
        char* const operands[] = {static_cast<char*>(addresses[Op::kGradOut]),
                                  static_cast<char*>(addresses[Op::kInput])};
        const BatchNormReduceElement<T> element;
        ChannelSum<BatchNormReduceElement<T>> sum(plan.sums, element, operands, false);
        const auto load = [&](float* mean, int64_t first, int n) {
            load_channels(plan.mean, addresses[Op::kMean], mean, first, n);
        };
        sum.run(begin, end, partials, load, [&](const Partials& sums, int64_t first, int64_t last) {
            finish_channels(plan, addresses, sums, first, last);
        });
    }

    static void finish(const Op::Plan& plan, void* const* addresses, float* partials, int64_t begin,
                       int64_t end) {
        finish_channels(plan, addresses, {partials, plan.channels, 0}, begin * kFinishTile,
                        least(end * kFinishTile, plan.channels));
    }

    static void finish_channels(const Op::Plan& plan, void* const* addresses,
                                const Partials& partials, int64_t begin, int64_t end) {
        for (int64_t first = begin; first < end; first += kFinishTile) {
            const int64_t last = least(first + kFinishTile, end);
            const int n = static_cast<int>(last - first);
            float dy[kFinishTile], xmu[kFinishTile], weight[kFinishTile];
            add_blocks(plan.sums, partials, 0, first, last, dy);
            add_blocks(plan.sums, partials, 1, first, last, xmu);
            load_channels(plan.invstd, addresses[Op::kInvstd], weight, first, n);
            for (int i = 0; i < n; ++i) weight[i] *= xmu[i];
            const float* const results[] = {dy, xmu, weight, dy};
            for (int i = 0; i < 4; ++i) {
                if (!plan.wanted[i]) continue;
                const ChannelVector& output = plan.outputs[i];
                store_run(
                    output.dtype,
                    static_cast<char*>(addresses[Op::kFirstOutput + i]) + first * output.stride,
                    output.stride, results[i], n);
            }
        }
    }

    static void load_channels(const ChannelVector& vector, const void* from, float* to,
                              int64_t first, int n) {
        load_run(vector.dtype, to, static_cast<const char*>(from) + first * vector.stride,
                 vector.stride, n);
    }

    static constexpr Op::Kernels kernels() { return {accumulate, finish}; }
};

}  // namespace

const BatchNormReduceBackward::Kernels KERNELS::batch_norm_reduce_backward[kKernelDtypes] =
    OF_EACH_DTYPE(BatchNormReduceBackwardKernel);

}  // namespace ascend_grad
