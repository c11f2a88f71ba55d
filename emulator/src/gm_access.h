// What copies and the scalar unit share when they touch GM.
#pragma once

#include "launch.h"

namespace ascendc_emulator {

// GM side: byte-exact accesses page by page; `move` copies while the page is locked.
template <typename Move>
void gm_access(Core& core, const Instr& instr, GmBuffer& buffer, uint64_t begin, uint64_t bytes,
               bool writes, Move move) {
    buffer.locked_pages(begin, begin + bytes, [&](uint64_t b, uint64_t e) {
        core.access_gm(instr, buffer, b, e, writes);
        move(b, e);
    });
}

// Atomics of the core into a buffer are applied before the core reads it again or stores plainly.
inline void settle(Core& core, const GmBuffer& buffer) {
    if (!core.pending_atomics.empty()) core.flush_atomics(&buffer);
}

// Reports that nobody wrote the `bytes` at the tensor's address.
void report_unwritten_gm(Core& core, const Instr& instr, const GmTensor& gm, uint64_t bytes);

}  // namespace ascendc_emulator
