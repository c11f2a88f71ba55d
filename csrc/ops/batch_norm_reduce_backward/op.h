// BatchNormReduceBackward: the reductions of batch normalisation's backward pass.
//
//   sum_dy[c]      = SUM dy
//   sum_dy_xmu[c]  = SUM dy * (x - mean[c])
//   grad_weight[c] = invstd[c] * sum_dy_xmu[c]
//   grad_bias[c]   = sum_dy[c]
//
// Sums run over all axes but 1; they are sums, never divided by the number of elements. weight
// changes nothing. Inputs are widened to float, sums are float within blocks and double between
// them, each output is rounded once.
#pragma once

#include "core/channel_sum.h"
#include "core/operator.h"
#include "device/plan.h"
#include "isa/levels.h"

namespace ascend_grad {

// A vector with one value per channel, in somebody's memory.
struct ChannelVector {
    DataType dtype;
    int64_t stride;  // bytes
};

struct BatchNormReduceBackward {
    enum Tensor : int {
        kGradOut,
        kInput,
        kMean,
        kInvstd,
        kWeight,
        kSumDy,
        kSumDyXmu,
        kGradWeight,
        kGradBias
    };
    static constexpr int kFirstOutput = kSumDy;

    struct Args : Arguments {
        bool input_g = true;   // sum_dy and sum_dy_xmu are wanted
        bool weight_g = true;  // grad_weight is wanted
        bool bias_g = true;    // grad_bias is wanted

        bool wants(int tensor) const {
            if (tensor < kFirstOutput) return true;
            return tensor == kGradWeight ? weight_g : tensor == kGradBias ? bias_g : input_g;
        }
    };

    struct Plan {
        uint64_t workspace_size;
        bool is_empty;  // sums over nothing: zeros
        DataType dtype;
        int64_t channels;
        ChannelSumPlan sums;
        ChannelVector mean, invstd;
        bool wanted[4];  // outputs in prototype order
        ChannelVector outputs[4];
        bool in_one_pass;  // tasks finish their channels: no workspace
        int64_t bytes;     // that the call moves
    };

    struct Kernels {
        void (*accumulate)(const Plan& plan, void* const* addresses, float* partials, int64_t begin,
                           int64_t end);
        // Of tiles [begin, end) of kFinishTile channels.
        void (*finish)(const Plan& plan, void* const* addresses, float* partials, int64_t begin,
                       int64_t end);
    };

    static const OperatorInfo& info();
    // Dtype and shape of an output that the caller leaves to us; inputs are not null but may be
    // invalid.
    static TensorView describe_output(const Args& args, int output);
    static Status check(const Args& args);
    static Plan plan(const Args& args);
    static Status device_plan(const Args& args, const device::Product& product, device::Plan& plan);
    static void run(const Plan& plan, void* const* addresses, void* workspace);
};

// By kernel_index().
OF_EACH_LEVEL(
    extern const BatchNormReduceBackward::Kernels batch_norm_reduce_backward[kKernelDtypes])

}  // namespace ascend_grad
