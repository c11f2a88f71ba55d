// An API call that the scalar unit executes: the core and the instruction.
#pragma once

#include "launch.h"

namespace ascendc_emulator {

struct Use {
    Core& core;
    Instr instr;
};

inline Use scalar(const char* api, Loc loc) {
    Core& core = current_core(api);
    return {core, core.begin(api, kS, loc)};
}

// The pipes that fill and drain a queue between two positions.
inline Pipe producer_of(TPosition src, TPosition dst) {
    if (src == TPosition::GM) return kMte2;
    if (dst == TPosition::GM) return kV;
    return src == dst ? kV : kMte2;
}

inline Pipe consumer_of(TPosition src, TPosition dst) {
    if (src == TPosition::GM) return kV;
    if (dst == TPosition::GM) return kMte3;
    return src == dst ? kV : kMte3;
}

}  // namespace ascendc_emulator
