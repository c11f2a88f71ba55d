// The AscendC API for any CPU. Kernels include this header, under the name CANN gives it.
#pragma once

#include <cmath>
#include <cstring>
#include <type_traits>

#include "ascendc_emulator/aliases.h"
#include "ascendc_emulator/api_convert.h"
#include "ascendc_emulator/api_copy.h"
#include "ascendc_emulator/api_elementwise.h"
#include "ascendc_emulator/api_move.h"
#include "ascendc_emulator/api_reduce.h"
#include "ascendc_emulator/api_sync.h"
#include "ascendc_emulator/local_memory.h"
#include "ascendc_emulator/tpipe.h"
