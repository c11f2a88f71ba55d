// Running a kernel from a test program, under the name and with the macros of CANN's CPU twin.
#pragma once

// Test programs rely on these from here, as with CANN's header of this name.
#include <sys/stat.h>
#include <unistd.h>

#include <iostream>
#include <string>

#include "ascendc_emulator.h"
#include "ascendc_emulator/macros.h"

namespace AscendC {
using ascendc_emulator::GmAlloc;
using ascendc_emulator::GmFree;
using ascendc_emulator::SetKernelMode;
}  // namespace AscendC

#define ICPU_SET_TILING_KEY(key) \
    do {                         \
        g_tilingKey = (key);     \
    } while (0)

// Runs func(args...) on blockDim cores and waits. A report is printed; unless collecting is on, the
// program then ends with exit status 1, and at its end otherwise.
#define ICPU_RUN_KF(func, blockDim, ...)                                                \
    ::ascendc_emulator::run_kernel_and_print(ASCENDC_EMULATOR_SOC, #func, #__VA_ARGS__, \
                                             static_cast<uint32_t>(blockDim), func, ##__VA_ARGS__)
