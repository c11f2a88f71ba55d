// Entry points of AvgPool2dBackward, one per dtype of its tensors.
#include "avg_pool2d_backward/direct.h"
#include "avg_pool2d_backward/fill.h"
#include "avg_pool2d_backward/sums.h"

namespace kernels {

template <typename T>
__aicore__ inline void avg_pool2d_backward(GM_ADDR grad_output, GM_ADDR grad_input,
                                           const AvgPool2dBackwardTiling& tiling) {
    TPipe pipe;
    if (tiling.traversal == kPoolDirect) {
        PoolDirect<T> kernel(grad_output, grad_input, tiling, pipe);
        kernel.run();
    } else if (tiling.traversal == kPoolFill) {
        PoolFill<T> kernel(grad_output, grad_input, tiling, pipe);
        kernel.run();
    } else {
        PoolSums<T> kernel(grad_output, grad_input, tiling, pipe);
        kernel.run();
    }
}

}  // namespace kernels

extern "C" __global__ __aicore__ void avg_pool2d_backward_float32(GM_ADDR grad_output,
                                                                  GM_ADDR grad_input,
                                                                  AvgPool2dBackwardTiling tiling) {
    KERNELS_VECTOR_ONLY();
    kernels::avg_pool2d_backward<float>(grad_output, grad_input, tiling);
}

extern "C" __global__ __aicore__ void avg_pool2d_backward_float16(GM_ADDR grad_output,
                                                                  GM_ADDR grad_input,
                                                                  AvgPool2dBackwardTiling tiling) {
    KERNELS_VECTOR_ONLY();
    kernels::avg_pool2d_backward<half>(grad_output, grad_input, tiling);
}

#if __CCE_AICORE__ == 220
extern "C" __global__ __aicore__ void avg_pool2d_backward_bfloat16(GM_ADDR grad_output,
                                                                   GM_ADDR grad_input,
                                                                   AvgPool2dBackwardTiling tiling) {
    KERNELS_VECTOR_ONLY();
    kernels::avg_pool2d_backward<bfloat16_t>(grad_output, grad_input, tiling);
}
#endif
