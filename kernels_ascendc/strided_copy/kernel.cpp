// Copies between strided memory and converts on the way.
#if __CCE_AICORE__ == 220
#include "strided_copy/tiles.h"
#else
#include "strided_copy/blocks.h"
#include "strided_copy/elements.h"
#endif

namespace kernels {

template <typename From, typename To>
__aicore__ inline void strided_copy(GM_ADDR source, GM_ADDR target,
                                    const StridedCopyTiling& tiling) {
    TPipe pipe;
#if __CCE_AICORE__ == 220
    TiledCopy<From, To>(&pipe, source, target, tiling).run();
#else
    const bool odd = is_odd(source + tiling.source_begin, tiling.source_stride, sizeof(From)) ||
                     is_odd(target + tiling.target_begin, tiling.target_stride, sizeof(To));
    if (tiling.read == STRIDED_COPY_SINGLE || odd) {
        ElementCopy<From, To>(&pipe, source, target, tiling).run();
    } else {
        BlockCopy<From, To>(&pipe, source, target, tiling).run();
    }
#endif
}

}  // namespace kernels

#define ENTRY(source_name, From, target_name, To)                                     \
    extern "C" __global__ __aicore__ void strided_copy_##source_name##_##target_name( \
        GM_ADDR source, GM_ADDR target, StridedCopyTiling tiling) {                   \
        KERNELS_WITHOUT_BARRIER();                                                    \
        kernels::strided_copy<From, To>(source, target, tiling);                      \
    }
ENTRY(float32, float, float32, float)
ENTRY(float16, half, float16, half)
ENTRY(float32, float, float16, half)
ENTRY(float16, half, float32, float)
#if __CCE_AICORE__ == 220
ENTRY(bfloat16, bfloat16_t, bfloat16, bfloat16_t)
ENTRY(float32, float, bfloat16, bfloat16_t)
ENTRY(bfloat16, bfloat16_t, float32, float)
ENTRY(float16, half, bfloat16, bfloat16_t)
ENTRY(bfloat16, bfloat16_t, float16, half)
#endif
