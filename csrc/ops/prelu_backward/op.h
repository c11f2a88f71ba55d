// PreluBackward: gradients of PReLU with respect to its input and its weight.
//
//   grad_input  = x > 0 ? g : w[c] * g
//   grad_weight = SUM (x > 0 ? 0 : x * g)
//
// The sum runs over all axes but 1, or over all axes where weight has one element. Zero and NaN
// take the weight branch; branches are selects, never products with 0. Sums are float within blocks
// and double between them; each result is rounded once.
#pragma once

#include "core/channel_sum.h"
#include "core/operator.h"
#include "device/plan.h"
#include "isa/levels.h"

namespace ascend_grad {

struct PreluBackward {
    enum Tensor : int { kGradOutput, kSelf, kWeight, kGradInput, kGradWeight };
    static constexpr int kFirstOutput = kGradInput;

    struct Args : Arguments {};

    struct Plan {
        uint64_t workspace_size;
        bool is_empty;
        DataType dtype;
        bool one_weight;
        int64_t channels;
        ChannelSumPlan sums;
        Loops weight;         // walks weight's elements in order (operand 0)
        Loops grad_weight;    // and those of grad_weight
        bool streaming_fits;  // grad_input may be written past the caches
        bool fills_lines;     // what is written in one piece is whole cache lines
        bool in_one_pass;     // tasks finish their channels: no workspace
        bool is_elementwise;  // channels have one element and are neighbours
        int64_t bytes;        // that the call moves
    };

    struct Kernels {
        void (*accumulate)(const Plan& plan, void* const* addresses, float* partials,
                           bool streaming, int64_t begin, int64_t end);
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

    // Channels of a tensor of self's shape; 1 below rank 2.
    static int64_t channel_count(const TensorView& self) {
        return self.rank >= 2 ? self.shape[1] : 1;
    }
};

// By kernel_index().
OF_EACH_LEVEL(extern const PreluBackward::Kernels prelu_backward[kKernelDtypes])

}  // namespace ascend_grad
