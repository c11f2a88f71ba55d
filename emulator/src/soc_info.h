// Run-time facts and the cost table of each product family.
#pragma once

#include <cstdint>
#include <string>

namespace ascendc_emulator {

// Cycles and rates of the cost model. Sources and reasons: docs/emulator.md, "What a kernel costs".
struct CostTable {
    double clock_mhz;
    double gm_bytes_per_cycle;      // one core, GM <-> UB, each direction
    double gm_total_gb_per_second;  // whole product
    double mte_startup;             // cycles of one DataCopy instruction
    double mte_per_piece;           // extra cycles of each further contiguous piece
    double unaligned_512_factor;    // rate factor when GM does not start at 512 bytes
    double vector_startup;
    double cycles_per_repeat;  // simple instruction, 256 bytes
    double scalar_issue;       // scalar unit: dispatch one instruction
    double scalar_access;      // GetValue / SetValue in UB
    double scalar_gm_access;
    double event_latency;  // SetFlag to WaitFlag across pipes
    double sync_all;       // hardware barrier
    double sync_all_soft;  // by GM
    double launch;         // start of a block
};

struct SocInfo {
    int arch;
    const char* name;
    const char* default_version;
    uint32_t ub_bytes;
    uint32_t reserved_ub;  // start of the 8 KiB that some instructions borrow
    int event_ids;
    int tensors_per_position;  // AllocTensor calls in flight
    bool exact_gm_copy;        // DataCopyPad exists
    bool zero_is_noop;         // zero repeat / count / length documented as no-op
    bool split_cores;          // cube and vector cores apart
    CostTable cost;
};

const SocInfo* find_soc(int arch);
// Cores that vector kernels can use; 0 when the name does not belong to the family.
uint32_t core_count(const SocInfo& soc, const std::string& version);

}  // namespace ascendc_emulator
