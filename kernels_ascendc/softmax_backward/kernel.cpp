// SoftmaxBackward: out = output * (grad_output - SUM of grad_output * output along one axis).
#include "softmax_backward/lane_tiles.h"
#include "softmax_backward/rows.h"
#include "softmax_backward/strips.h"

namespace kernels {

template <typename T, typename U>
__aicore__ inline void softmax_backward(GM_ADDR grad_output, GM_ADDR output, GM_ADDR out,
                                        GM_ADDR workspace, const SoftmaxBackwardTiling& tiling) {
    TPipe pipe;
    const SoftmaxPointers pointers{grad_output, output, out, workspace};
    if (tiling.traversal == kSoftmaxLanes) {
        SoftmaxLanes<T, U>(pipe, pointers, tiling).run();
    } else if (tiling.traversal == kSoftmaxRows) {
        SoftmaxRows<T, U>(pipe, pointers, tiling).run();
    } else {
        SoftmaxStrips<T, U>(pipe, pointers, tiling).run();
    }
}

}  // namespace kernels

#define SOFTMAX_BACKWARD(name, T, U)                                                              \
    extern "C" __global__ __aicore__ void name(GM_ADDR grad_output, GM_ADDR output, GM_ADDR out,  \
                                               GM_ADDR workspace, SoftmaxBackwardTiling tiling) { \
        KERNELS_WITH_BARRIER();                                                                   \
        kernels::softmax_backward<T, U>(grad_output, output, out, workspace, tiling);             \
    }

SOFTMAX_BACKWARD(softmax_backward_float32_float32, float, float)
SOFTMAX_BACKWARD(softmax_backward_float32_float16, float, half)
SOFTMAX_BACKWARD(softmax_backward_float16_float32, half, float)
SOFTMAX_BACKWARD(softmax_backward_float16_float16, half, half)
#if __CCE_AICORE__ == 220
SOFTMAX_BACKWARD(softmax_backward_float32_bfloat16, float, bfloat16_t)
SOFTMAX_BACKWARD(softmax_backward_float16_bfloat16, half, bfloat16_t)
SOFTMAX_BACKWARD(softmax_backward_bfloat16_float32, bfloat16_t, float)
SOFTMAX_BACKWARD(softmax_backward_bfloat16_float16, bfloat16_t, half)
SOFTMAX_BACKWARD(softmax_backward_bfloat16_bfloat16, bfloat16_t, bfloat16_t)
#endif
