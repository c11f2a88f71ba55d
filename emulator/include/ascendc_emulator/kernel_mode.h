// KernelMode, shared by the device and the host headers.
#pragma once

// AIV_MODE: every block is one vector core. MIX_MODE, the default: on the products with split cores
// a block is one cube core with two vector cores, of which the emulator runs the vector cores.
enum class KernelMode { MIX_MODE = 0, AIC_MODE = 1, AIV_MODE = 2 };
