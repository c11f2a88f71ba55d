// Kernels of operator projects include this CANN header for the tiling macros of device code.
#pragma once

#include "ascendc_emulator/macros.h"
