// What the ways to synchronise cores share.
#pragma once

#include <vector>

#include "launch.h"

namespace ascendc_emulator {

// Clocks of all agents: the later of each.
void raise_to(std::vector<uint32_t>& into, const std::vector<uint32_t>& from);
// Adds everything the core has done or knows of.
void publish(const Core& core, std::vector<uint32_t>& into);
bool refuse_more_blocks_than_cores(Core& core, const Instr& instr);
// The UB slot and the GM slot that a software primitive reads and writes on the way.
void touch_slots(Core& core, const Instr& instr, const GmTensor& gm, const UbTensor& ub,
                 uint64_t gm_bytes, uint64_t ub_bytes);
// The workspace must be zero before the first use; a fresh GmAlloc is not.
void check_zeroed(Core& core, const Instr& instr, const GmTensor& gm, uint64_t bytes);

}  // namespace ascendc_emulator
