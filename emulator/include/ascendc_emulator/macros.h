// Keywords and statement macros of device code, as CANN's CPU twin defines them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ascendc_emulator/runtime.h"
#include "ascendc_emulator/soc.h"

#ifndef __CCE_KT_TEST__
#define __CCE_KT_TEST__ 1
#endif
#ifndef ASCENDC_CPU_DEBUG
#define ASCENDC_CPU_DEBUG 1
#endif

#define __aicore__
#define __global__
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __sync_alias__
#define __check_sync_alias__
#define __in_pipe__(...)
#define __out_pipe__(...)
#define __inout_pipe__(...)
#define __BLOCK_LOCAL__ thread_local
#define __WORKGROUP_LOCAL__ thread_local
#define __simd_vf__
#define GM_ADDR __gm__ uint8_t*

#ifndef likely
#define likely(x) __builtin_expect(!!(x), 1)
#endif
#ifndef unlikely
#define unlikely(x) __builtin_expect(!!(x), 0)
#endif
#ifndef K_MAX_SHAPE_DIM
#define K_MAX_SHAPE_DIM 8
#endif
#ifndef QBUF_MAX_LEN
#define QBUF_MAX_LEN 64
#endif

// Hints to the device tool chain: no effect on the CPU.
#define ENABLE_FEATURE_FOR_COMPILE(feature, value)
#define KERNEL_TASK_TYPE(key, value)
#define KERNEL_TASK_TYPE_DEFAULT(value)
#define ENABLE_DETERMINISTIC()
#define ENABLE_PRINTF()
#define ENABLE_ASSERT()
#define REGISTER_TILING_DEFAULT(type)  \
    do {                               \
        type ascendc_emulator_unused;  \
        (void)ascendc_emulator_unused; \
    } while (0)
#define REGISTER_TILING_FOR_TILINGKEY(expression, type) REGISTER_TILING_DEFAULT(type)

// Copies the tiling struct of an operator project from GM to the stack.
#ifndef GET_TILING_DATA_WITH_STRUCT
#define GET_TILING_DATA_WITH_STRUCT(type, name, pointer) \
    type name;                                           \
    __builtin_memcpy(&name, (pointer), sizeof(type))
#endif
#define ASCENDC_SHAPE(dims, ...) \
    dims, (const uint32_t[]) {   \
        __VA_ARGS__              \
    }

#define g_coreType ascendc_emulator::rt::core_type
#define ASCEND_IS_AIV (g_coreType == AscendC::AIV)
#define ASCEND_IS_AIC (g_coreType == AscendC::AIC)
#define ASCEND_IS_NOT_AIV (g_coreType != AscendC::AIV)
#define ASCEND_IS_NOT_AIC (g_coreType != AscendC::AIC)

extern uint64_t g_tilingKey;
#ifndef TILING_KEY_VAR
#define TILING_KEY_VAR g_tilingKey
#endif
#define TILING_KEY_IS(k) (TILING_KEY_VAR == (k))

#define ASCENDC_ASSERT(condition, behaviour)                                               \
    do {                                                                                   \
        if (!(condition))                                                                  \
            ascendc_emulator::rt::kernel_assert_failed(#condition,                         \
                                                       ascendc_emulator::rt::Loc::here()); \
    } while (0)
#ifndef ascendc_assert
#define ascendc_assert(condition, ...) ASCENDC_ASSERT(condition, {})
#endif
#ifndef ASSERT
#define ASSERT(condition) ASCENDC_ASSERT(condition, {})
#endif
