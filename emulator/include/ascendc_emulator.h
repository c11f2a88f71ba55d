// Host interface of the emulator: memory, options, launches, reports, costs.
//
// Kernels are ordinary functions compiled against kernel_operator.h. A launch runs one on a number
// of emulated cores (host threads of this process) and returns what the checks found and what it
// cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <type_traits>
#include <vector>

#include "ascendc_emulator/kernel_mode.h"

namespace ascendc_emulator {

struct Options {
    bool collect = false;        // go on after a report instead of stopping the launch
    bool check_memory = true;    // bounds, use after free, reading what nobody wrote
    bool check_sync = true;      // happens-before within and across cores, events
    bool check_operands = true;  // alignment, strides, masks, counts, overlap
    bool notes = false;          // rules that are unsure, and advice
    bool cost = true;            // count and estimate
    bool trace = false;          // keep the timeline (memory: one record per instruction)
    uint32_t max_reports = 100;
    // What a block is on products with split cores: one vector core, or a cube core with two.
    KernelMode kernel_mode = KernelMode::AIV_MODE;
    std::string soc_version;  // e.g. "Ascend910B3"; empty: the largest of the family
};

// The environment variable ASCENDC_EMULATOR, a comma-separated list: collect, notes, nochecks,
// nosync, nomemory, nooperands, nocost, cost (print the table), trace=FILE, svg=FILE, soc=NAME.
Options options_from_environment();

// Cores that kernels may use on that version of the family; "" is its largest, 0 for no such name.
uint32_t core_count(int arch, const std::string& soc_version);

enum class Severity { error, note };

struct Report {
    Severity severity = Severity::error;
    std::string rule;         // e.g. "ub-out-of-bounds"; the list is in docs/emulator.md
    std::string instruction;  // API name
    std::string file;
    int line = 0;
    int core = -1;
    std::string pipe;             // S, V, MTE2, MTE3
    std::string tensor;           // which buffer, where it was made
    uint64_t begin = 0, end = 0;  // byte range inside the buffer
    int64_t index = -1;           // offending element or parameter value, -1 when there is none
    std::string message;
    std::string other;      // the access or event this one conflicts with, with its file:line
    uint64_t sequence = 0;  // number of the instruction on its core

    std::string text() const;
};

struct PipeCost {
    uint64_t instructions = 0;
    uint64_t repeats = 0;        // V: 256-byte repeats
    uint64_t transfers = 0;      // MTE: contiguous pieces
    uint64_t bytes = 0;          // GM side
    uint64_t unaligned_512 = 0;  // transfers whose GM start is not 512-byte aligned
    uint64_t unaligned_32 = 0;
    uint64_t scalar_accesses = 0;
    uint64_t waits = 0;
    double busy = 0;  // cycles at work
    double wait = 0;  // cycles waiting for another pipe or core
};

struct CoreCost {
    PipeCost pipe[4];  // S, V, MTE2, MTE3
    double cycles = 0;
};

struct TraceEvent {
    int32_t core;
    int32_t pipe;
    const char* name;
    const char* file;
    int32_t line;
    double start, cycles;
};

// A model for comparing designs, not a measurement. The table behind it is in docs/emulator.md.
struct Cost {
    std::vector<CoreCost> cores;
    double cycles = 0;  // of the slowest core
    double clock_mhz = 0;
    uint64_t gm_bytes_read = 0, gm_bytes_written = 0;
    double bandwidth_bound_cycles = 0;  // the same GM bytes at full bandwidth of the product
    std::vector<TraceEvent> trace;

    double microseconds() const { return clock_mhz > 0 ? cycles / clock_mhz : 0; }
    std::string table() const;
    void write_trace(std::ostream& out) const;  // Chrome / Perfetto trace JSON
    void write_svg(std::ostream& out) const;    // timeline picture
};

struct Result {
    std::vector<Report> reports;   // sorted by core and instruction
    uint64_t dropped_reports = 0;  // beyond Options::max_reports
    Cost cost;
    bool ok() const;  // no error (notes do not count)
};

// Runs `body` once per core. `arch` is __CCE_AICORE__ of the kernel's compilation (220, 200, 100).
Result launch(int arch, const std::string& kernel, uint32_t block_dim,
              const std::function<void()>& body,
              const Options& options = options_from_environment());

// Prints or writes what that variable asks for: cost table, trace, picture.
void write_environment_output(const Result& result);

template <typename Kernel, typename... Args>
Result run(int arch, const std::string& name, uint32_t block_dim, const Options& options,
           Kernel kernel, Args... args) {
    return launch(
        arch, name, block_dim, [&] { kernel(args...); }, options);
}

// Result of the latest launch made by ICPU_RUN_KF in this process.
const Result& last_result();

// Memory with a known extent, filled with a pattern that lets the checks tell what the host wrote.
void* GmAlloc(size_t bytes);
void GmFree(void* pointer);

// Memory that the caller allocated itself. `initialized`: it holds data the kernel may read.
// Registering the same address again updates it. The caller unregisters before freeing.
void register_gm(void* pointer, size_t bytes, const std::string& name, bool initialized);
void unregister_gm(void* pointer);
// Gives a buffer the name that reports use.
void name_gm(const void* pointer, const std::string& name);

// For ICPU_RUN_KF; MIX_MODE until set, as in CANN's CPU twin.
void SetKernelMode(KernelMode mode);
KernelMode kernel_mode();

void bind_argument_names(const std::string& names, const void* const* pointers, size_t count);
void finish_kernel(const Options& options, Result result);

template <typename T>
const void* as_gm_pointer(const T& value) {
    if constexpr (std::is_pointer_v<T>) return static_cast<const void*>(value);
    return nullptr;
}

template <typename Kernel, typename... Args>
void run_kernel_and_print(int arch, const char* name, const char* argument_names,
                          uint32_t block_dim, Kernel kernel, Args... args) {
    const void* pointers[] = {as_gm_pointer(args)..., nullptr};
    bind_argument_names(argument_names, pointers, sizeof...(Args));
    Options options = options_from_environment();
    options.kernel_mode = kernel_mode();
    finish_kernel(options, run(arch, name, block_dim, options, kernel, args...));
}

}  // namespace ascendc_emulator
