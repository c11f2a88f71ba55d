// Entry points of AvgPool2dBackward, one per dtype of its tensors.
#include "avg_pool2d_backward/dense.h"
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
    } else if (tiling.dense != 0) {
        PoolDense<T> kernel(grad_output, grad_input, tiling, pipe);
        kernel.run();
    } else {
        PoolSums<T> kernel(grad_output, grad_input, tiling, pipe);
        kernel.run();
    }
}

}  // namespace kernels

#define AVG_POOL2D_BACKWARD(name, T)                                                    \
    extern "C" __global__ __aicore__ void name(GM_ADDR grad_output, GM_ADDR grad_input, \
                                               AvgPool2dBackwardTiling tiling) {        \
        KERNELS_WITHOUT_BARRIER();                                                      \
        kernels::avg_pool2d_backward<T>(grad_output, grad_input, tiling);               \
    }

AVG_POOL2D_BACKWARD(avg_pool2d_backward_float32, float)
AVG_POOL2D_BACKWARD(avg_pool2d_backward_float16, half)
#if __CCE_AICORE__ == 220
AVG_POOL2D_BACKWARD(avg_pool2d_backward_bfloat16, bfloat16_t)
#endif
