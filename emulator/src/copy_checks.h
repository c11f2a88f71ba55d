// What DataCopy and DataCopyPad demand of their operands.
#pragma once

#include "launch.h"

namespace ascendc_emulator {

// `t`: the tensor in UB that the copy fills or empties. False: nothing to copy, or reported.
bool check_copy_shape(Core& core, const Instr& instr, const rt::CopyCall& call, const UbTensor& t);
// Atomic stores read GM first: it must hold data.
void check_atomic_target(Core& core, const Instr& instr, const GmTensor& gm, uint64_t bytes);
// The atomic mode adds what it takes for its own dtype.
void check_atomic_dtype(Core& core, const Instr& instr, const UbTensor& t);
void check_gm_alignment(Core& core, const Instr& instr, const GmTensor& gm);

}  // namespace ascendc_emulator
