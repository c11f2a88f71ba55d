// Host side: declares how every kernel of kernels.def is launched, as CANN's build and the emulated
// kernels define it. To be called as
//   ACLRT_LAUNCH_KERNEL(softmax_backward_float32)(blocks, stream, pointers..., &tiling)
// Asynchronous on the stream with CANN; the emulator returns after the kernel. 0 is success.
#pragma once

#include <cstdint>

#include "tiling.h"

#ifndef ACLRT_LAUNCH_KERNEL
#define ACLRT_LAUNCH_KERNEL(name) aclrtlaunch_##name
#endif

#define ASCEND_GRAD_POINTERS_1 void*
#define ASCEND_GRAD_POINTERS_2 ASCEND_GRAD_POINTERS_1, void*
#define ASCEND_GRAD_POINTERS_3 ASCEND_GRAD_POINTERS_2, void*
#define ASCEND_GRAD_POINTERS_4 ASCEND_GRAD_POINTERS_3, void*
#define ASCEND_GRAD_POINTERS_5 ASCEND_GRAD_POINTERS_4, void*
#define ASCEND_GRAD_POINTERS_6 ASCEND_GRAD_POINTERS_5, void*
#define ASCEND_GRAD_POINTERS_7 ASCEND_GRAD_POINTERS_6, void*
#define ASCEND_GRAD_POINTERS_8 ASCEND_GRAD_POINTERS_7, void*
#define ASCEND_GRAD_POINTERS_9 ASCEND_GRAD_POINTERS_8, void*

#define KERNEL(name, Tiling, pointers)                                    \
    extern "C" uint32_t aclrtlaunch_##name(uint32_t blocks, void* stream, \
                                           ASCEND_GRAD_POINTERS_##pointers, Tiling* tiling);
#define KERNEL_BF16 KERNEL
#include "kernels.def"
#undef KERNEL_BF16
#undef KERNEL
