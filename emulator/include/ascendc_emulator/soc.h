// Facts about the product family that __CCE_AICORE__ selects. One table: the run-time rows are in
// soc.cpp.
#pragma once

#include <cstdint>

#ifndef __CCE_AICORE__
#error \
    "define __CCE_AICORE__ (220 Ascend910B/A3, 200 Ascend310P, 100 Ascend910A): link one of \
ascend_grad::emulator_ascend910b, _ascend310p, _ascend910"
#endif

#define ASCENDC_EMULATOR_SOC __CCE_AICORE__
#if __CCE_AICORE__ == 220
#define ASCENDC_EMULATOR_SOC_NAME "ascend910b"
#elif __CCE_AICORE__ == 200
#define ASCENDC_EMULATOR_SOC_NAME "ascend310p"
#elif __CCE_AICORE__ == 100
#define ASCENDC_EMULATOR_SOC_NAME "ascend910"
#else
#error "the emulator knows __CCE_AICORE__ 220, 200 and 100"
#endif

// Kernels of two families may end up in one process: give each family's templates their own names.
#define ASCENDC_EMULATOR_CONCAT2(a, b) a##b
#define ASCENDC_EMULATOR_CONCAT(a, b) ASCENDC_EMULATOR_CONCAT2(a, b)
#define ASCENDC_EMULATOR_ABI ASCENDC_EMULATOR_CONCAT(arch, __CCE_AICORE__)

namespace AscendC {
inline namespace ASCENDC_EMULATOR_ABI {

#if __CCE_AICORE__ == 220
constexpr uint32_t TOTAL_UB_SIZE = 192 * 1024;
constexpr int32_t TOTAL_VEC_LOCAL_SIZE = 184 * 1024;
constexpr uint32_t TMP_UB_OFFSET = 184 * 1024;
constexpr uint32_t RESERVED_WORKSPACE = 16 * 1024 * 1024;
constexpr int32_t QUE_MAX_EVENT = 8;
#else
constexpr uint32_t TOTAL_UB_SIZE = 256 * 1024;
constexpr int32_t TOTAL_VEC_LOCAL_SIZE = 248 * 1024;
constexpr uint32_t TMP_UB_OFFSET = 248 * 1024;
constexpr uint32_t RESERVED_WORKSPACE = 2 * 1024 * 1024;
constexpr int32_t QUE_MAX_EVENT = __CCE_AICORE__ == 200 ? 8 : 4;
#endif

}  // namespace ASCENDC_EMULATOR_ABI
}  // namespace AscendC
