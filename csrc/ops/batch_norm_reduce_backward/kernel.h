#pragma once

#include "isa/channel_sum.h"
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
        ChannelSum<BatchNormReduceElement<T>> sum(plan.sums, element, operands, partials, false);
        alignas(64) float mean[LaneSums<1>::kMaxChannels];
        for (int64_t task = begin; task < end; ++task) {
            const int64_t first = sum.first_channel(task);
            for (int c = 0; c < sum.channel_count(task); ++c) {
                mean[c] = read_scalar(plan.mean.dtype, addresses[Op::kMean],
                                      (first + c) * plan.mean.stride);
            }
            sum.run(task, mean);
        }
    }

    static void finish(const Op::Plan& plan, void* const* addresses, const float* partials,
                       int64_t begin, int64_t end) {
        for (int64_t tile = begin; tile < end; ++tile) {
            const int64_t first = tile * Op::kFinishTile;
            const int64_t last = least(first + Op::kFinishTile, plan.channels);
            float sum_dy[Op::kFinishTile], sum_dy_xmu[Op::kFinishTile];
            add_blocks(plan.sums, partials, 0, first, last, sum_dy);
            add_blocks(plan.sums, partials, 1, first, last, sum_dy_xmu);
            for (int64_t c = first; c < last; ++c) {
                const float invstd =
                    read_scalar(plan.invstd.dtype, addresses[Op::kInvstd], c * plan.invstd.stride);
                const float xmu = sum_dy_xmu[c - first];
                const float results[] = {sum_dy[c - first], xmu, invstd * xmu, sum_dy[c - first]};
                for (int i = 0; i < 4; ++i) {
                    if (!plan.wanted[i]) continue;
                    const ChannelVector& output = plan.outputs[i];
                    write_scalar(output.dtype, addresses[Op::kFirstOutput + i], c * output.stride,
                                 results[i]);
                }
            }
        }
    }

    static constexpr Op::Kernels kernels() { return {accumulate, finish}; }
};

}  // namespace
}  // namespace ascend_grad
