// Read-modify-write of GM bytes.
#pragma once

#include <cstdint>

#include "ascendc_emulator/runtime.h"

namespace ascendc_emulator {

// dst[i] = dst[i] (op) src[i] over `bytes` bytes of `dtype`, rounded per element. Unaligned is
// fine.
void apply_atomic(uint8_t* dst, const uint8_t* src, uint64_t bytes, rt::DType dtype, rt::Atomic op);

}  // namespace ascendc_emulator
