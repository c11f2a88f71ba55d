// The end of a launch: what its cores and kernels have left, and what it cost.
#include <algorithm>

#include "launch.h"

namespace ascendc_emulator {

void Launch::check_end(Core& core) {
    const auto end_report = [&](const char* rule, const char* name, Loc loc,
                                const std::string& message) {
        add_report(core.make(rule, Instr{name, loc, kS}, message));
        if (!options.collect) stop();
    };
    if (core.atomic != rt::Atomic::none)
        end_report("atomic-left-on", "SetAtomic", core.atomic_loc,
                   "the atomic mode is still on when the kernel ends: SetAtomicNone is missing");
    if (!options.check_sync) return;
    for (const auto& [key, flag] : core.flags)
        if (flag.set)
            end_report("event-left-set", "SetFlag", flag.loc,
                       "SetFlag without a WaitFlag: the event is still set when the kernel ends");
}

void Launch::report_garbage() {
    if (!options.check_memory) return;
    for (const auto& buffer : attached_) {
        uint64_t byte = buffer->stored_garbage.find(0, buffer->bytes, true);
        if (byte >= buffer->bytes) continue;
        const uint64_t end = buffer->stored_garbage.find(byte, buffer->bytes, false);
        // Up to one block behind the data is the slack that rounded-up stores need.
        if (buffer->bytes - byte < 32) continue;
        const Access writer = buffer->history->last_write(byte);
        const Site origin = site(writer.site);
        Report r;
        r.rule = "uninitialized-output";
        r.instruction = origin.name;
        r.file = origin.loc.file ? origin.loc.file : "";
        r.line = origin.loc.line;
        r.core = static_cast<int>(writer.block());
        r.pipe = pipe_name(writer.pipe());
        r.tensor = buffer->describe();
        r.begin = byte;
        r.end = end;
        r.index = static_cast<int64_t>(byte);
        r.message = "leaves bytes " + std::to_string(byte) + ".." + std::to_string(end) + " of " +
                    r.tensor + " holding data that nobody computed";
        add_report(std::move(r));
    }
}

Cost Launch::collect_cost() const {
    Cost cost;
    if (!options.cost) return cost;
    cost.clock_mhz = soc.cost.clock_mhz;
    const uint32_t threads = std::max<uint32_t>(1, std::min(blocks, core_limit));
    std::vector<double> lanes(threads, 0);
    for (const auto& core : cores) {
        if (!core) continue;  // the launch failed before
        cost.cores.push_back(core->cost);
        cost.gm_bytes_read += core->cost.pipe[kMte2].bytes;
        cost.gm_bytes_written += core->cost.pipe[kMte3].bytes;
        // A block that waited for its core begins where the one before ended.
        double& lane = lanes[core->block % threads];
        for (TraceEvent event : core->trace) {
            event.start += lane;
            cost.trace.push_back(event);
        }
        lane += core->cost.cycles;
    }
    cost.cycles = *std::max_element(lanes.begin(), lanes.end());
    const double bytes = static_cast<double>(cost.gm_bytes_read + cost.gm_bytes_written);
    cost.bandwidth_bound_cycles =
        bytes / (soc.cost.gm_total_gb_per_second * 1e3 / soc.cost.clock_mhz);
    return cost;
}

}  // namespace ascendc_emulator
