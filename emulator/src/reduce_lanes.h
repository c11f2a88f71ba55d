// Lanes of a reduction, the tree that combines them, and where results go.
#pragma once

#include <vector>

#include "vector_engine.h"

namespace ascendc_emulator {

enum class Kind { sum, max, min };

struct Lane {
    float value;
    uint32_t index;
    bool active;
};

void write_value(DType dtype, uint8_t* p, float v);
// Indices are stored as raw integers of the element's width.
void write_index(uint32_t size, uint8_t* p, uint32_t index);
float rounded(DType dtype, float v);
// ((a0 op a1) op (a2 op a3)) ...; inactive lanes are the identity; equal extremes keep the lower
// index.
Lane tree(DType dtype, Kind kind, std::vector<Lane>& lanes);
std::vector<Lane> lanes_of(const Core& core, const Walk& walk, const Layout& src, DType dtype,
                           uint64_t repeat, uint32_t first, uint32_t count);
// Records the reads. A reduction mixes all its lanes: one that nobody wrote spoils the result.
bool check_reduced(Core& core, const Instr& instr, const UbTensor& t, const char* role,
                   const std::vector<Range>& ranges);

// Writes one result and marks it.
struct Writer {
    Core& core;
    DType dtype;
    uint32_t element;
    void value(uint64_t at, float v) const {
        write_value(dtype, core.ub.data() + at, v);
        core.ub_init.set(at, at + element, true);
    }
    void index(uint64_t at, uint32_t size, uint32_t i) const {
        write_index(size, core.ub.data() + at, i);
        core.ub_init.set(at, at + size, true);
    }
    void extreme(uint64_t at, const Lane& lane, AscendC::ReduceOrder order) const {
        switch (order) {
            case AscendC::ReduceOrder::ORDER_VALUE_INDEX:
                value(at, lane.value);
                return index(at + element, element, lane.index);
            case AscendC::ReduceOrder::ORDER_INDEX_VALUE:
                index(at, element, lane.index);
                return value(at + element, lane.value);
            case AscendC::ReduceOrder::ORDER_ONLY_VALUE:
                return value(at, lane.value);
            case AscendC::ReduceOrder::ORDER_ONLY_INDEX:
                return index(at, 4, lane.index);
        }
    }
};

}  // namespace ascendc_emulator
