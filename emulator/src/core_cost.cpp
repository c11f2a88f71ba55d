// Time and counts of a core: see "What a kernel costs" in docs/emulator.md.
#include <algorithm>

#include "launch.h"

namespace ascendc_emulator {

void Core::wait_until(Pipe pipe, double moment) {
    if (!launch.options.cost) return;
    ++cost.pipe[pipe].waits;
    if (moment <= time[pipe]) return;
    cost.pipe[pipe].wait += moment - time[pipe];
    time[pipe] = moment;
}

void Core::charge_start() {
    time.fill(soc.cost.launch);
    if (launch.options.trace)
        trace.push_back({static_cast<int32_t>(block), kS, "start of the block", nullptr, 0, 0,
                         soc.cost.launch});
}

void Core::charge(const Instr& instr, double cycles, uint64_t repeats) {
    if (!launch.options.cost) return;
    PipeCost& c = cost.pipe[instr.pipe];
    c.repeats += repeats;
    c.busy += cycles;
    if (launch.options.trace)
        trace.push_back({static_cast<int32_t>(block), instr.pipe, instr.name, instr.loc.file,
                         instr.loc.line, time[instr.pipe], cycles});
    time[instr.pipe] += cycles;
}

// Loads and stores share the core's bandwidth. A transfer takes the first free stretches after it
// is ready, also those before transfers that were issued earlier but have to wait longer.
double Core::occupy_gm(double ready, double cycles) {
    const double oldest = std::min(time[kMte2], time[kMte3]);
    while (!gm_busy.empty() && gm_busy.front().second < oldest) gm_busy.pop_front();
    std::deque<std::pair<double, double>> merged;
    const auto add = [&](std::pair<double, double> piece) {
        if (!merged.empty() && merged.back().second >= piece.first) {
            merged.back().second = std::max(merged.back().second, piece.second);
        } else {
            merged.push_back(piece);
        }
    };
    double at = ready;
    for (const auto& taken : gm_busy) {
        const double free = std::min(cycles, taken.first - at);
        if (taken.second > ready && free > 0) {
            add({at, at + free});
            at += free;
            cycles -= free;
        }
        add(taken);
        if (cycles > 0) at = std::max(at, taken.second);
    }
    if (cycles > 0) add({at, at + cycles});
    gm_busy = std::move(merged);
    return at + cycles;
}

void Core::charge_transfer(const Instr& instr, uint64_t bytes, uint64_t pieces, const uint8_t* gm) {
    if (!launch.options.cost) return;
    const CostTable& t = soc.cost;
    PipeCost& c = cost.pipe[instr.pipe];
    c.transfers += pieces;
    c.bytes += bytes;
    const auto address = reinterpret_cast<uintptr_t>(gm);
    double rate = launch.gm_rate;
    if (address % 512 != 0) {
        c.unaligned_512 += pieces;
        rate *= t.unaligned_512_factor;
    }
    if (address % 32 != 0) c.unaligned_32 += pieces;
    const double setup = t.mte_startup + t.mte_per_piece * static_cast<double>(pieces - 1);
    const double needed = static_cast<double>(bytes) / rate;
    const double end = occupy_gm(time[instr.pipe] + setup, needed);
    charge(instr, setup + needed);
    // What exceeds the transfer's own time was spent waiting for bandwidth.
    wait_until(instr.pipe, end);
}

}  // namespace ascendc_emulator
