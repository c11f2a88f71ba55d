// Core to core: IBSet and IBWait, and the ordered chain of blocks.
#include <algorithm>
#include <cstring>

#include "cross_core.h"

namespace ascendc_emulator {

void raise_to(std::vector<uint32_t>& into, const std::vector<uint32_t>& from) {
    if (into.size() < from.size()) into.resize(from.size());
    for (size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
}

void publish(const Core& core, std::vector<uint32_t>& into) {
    into.resize(size_t(core.launch.blocks) * kPipes);
    raise_to(into, core.remote);
    for (int p = 0; p < kPipes; ++p) {
        uint32_t& c = into[core.block * kPipes + p];
        c = std::max(c, core.clock[p]);
    }
}

bool refuse_more_blocks_than_cores(Core& core, const Instr& instr) {
    if (core.launch.blocks <= core.launch.core_limit) return false;
    core.report(core.make("too-many-blocks", instr,
                          std::to_string(core.launch.blocks) +
                              " blocks synchronise on a product with " +
                              std::to_string(core.launch.core_limit) +
                              " cores: blocks that have not started cannot arrive"));
    throw StopKernel{};
}

void touch_slots(Core& core, const Instr& instr, const GmTensor& gm, const UbTensor& ub,
                 uint64_t gm_bytes, uint64_t ub_bytes) {
    core.gm_range(instr, gm, 0, gm_bytes);
    if (!core.check_tensor(instr, ub, "the UB workspace")) return;
    if (!core.check_alignment(instr, ub, "the UB workspace", 32)) return;
    if (!core.check_bounds(instr, ub, "the UB workspace", ub.address, ub.address + ub_bytes))
        return;
    core.access_ub(instr, ub, ub.address, ub.address + ub_bytes, true);
    core.ub_init.set(ub.address, ub.address + ub_bytes, true);
}

void check_zeroed(Core& core, const Instr& instr, const GmTensor& gm, uint64_t bytes) {
    auto buffer = core.gm_range(instr, gm, 0, bytes);
    if (!buffer) return;
    const auto offset = static_cast<uint64_t>(gm.address - buffer->begin);
    const uint64_t bad = buffer->init.find(offset, offset + bytes, false);
    const bool nonzero =
        std::any_of(gm.address, gm.address + bytes, [](uint8_t b) { return b != 0; });
    if (bad == offset + bytes && !nonzero) return;
    const auto* dirty =
        std::find_if(gm.address, gm.address + bytes, [](uint8_t b) { return b != 0; });
    const int64_t first = bad < offset + bytes ? static_cast<int64_t>(bad - offset)
                                               : static_cast<int64_t>(dirty - gm.address);
    core.report(core.make("workspace-not-zero", instr,
                          "the GM workspace must be zero before the kernel starts", *buffer, offset,
                          offset + bytes, first / 4));
}

}  // namespace ascendc_emulator

namespace ascendc_emulator::rt {
namespace {

// The start of IBSet and IBWait. Returns the number of the flag.
int64_t enter_pair(Core& core, const Instr& instr, const GmTensor& gm, const UbTensor& ub,
                   int32_t block, int32_t event) {
    refuse_more_blocks_than_cores(core, instr);
    const int64_t slot = int64_t(core.launch.blocks) * event + block;
    touch_slots(core, instr, gm, ub, (static_cast<uint64_t>(slot) + 1) * 32, 32);
    core.barrier_all();
    return slot;
}

// The start of the chain's primitives.
void enter_chain(Core& core, const Instr& instr, const GmTensor& gm, const UbTensor& ub) {
    const uint64_t bytes = uint64_t(core.launch.blocks) * 32;
    touch_slots(core, instr, gm, ub, bytes, bytes);
    core.barrier_all();
}

}  // namespace

void ib_set(const GmTensor& gm, const UbTensor& ub, int32_t block, int32_t event, Loc loc) {
    Core& core = current_core("IBSet");
    const Instr instr = core.begin("IBSet", kS, loc);
    const int64_t slot = enter_pair(core, instr, gm, ub, block, event);
    core.flush_atomics();
    std::unique_lock<std::mutex> lock(core.launch.mutex);
    auto& signal = core.launch.signals[{gm.address, slot}];
    if (signal.set) {
        core.launch.wait(lock, core, instr, "deadlock", [&] {
            return !core.launch.signals[{gm.address, slot}].set;
        });
        lock.lock();
    }
    auto& ready = core.launch.signals[{gm.address, slot}];
    publish(core, ready.clocks);
    ready.set = true;
    ready.time = core.time[kS];
    core.launch.state_changed();
}

void ib_wait(const GmTensor& gm, const UbTensor& ub, int32_t block, int32_t event, Loc loc) {
    Core& core = current_core("IBWait");
    const Instr instr = core.begin("IBWait", kS, loc);
    const int64_t slot = enter_pair(core, instr, gm, ub, block, event);
    std::unique_lock<std::mutex> lock(core.launch.mutex);
    core.launch.wait(lock, core, instr, "deadlock", [&] {
        return core.launch.signals[{gm.address, slot}].set;
    });
    lock.lock();
    auto& signal = core.launch.signals[{gm.address, slot}];
    signal.set = false;
    raise_to(core.remote, signal.clocks);
    const double moment = signal.time + core.soc.cost.scalar_gm_access * 2;
    core.launch.state_changed();
    lock.unlock();
    for (int p = 0; p < kPipes; ++p) core.wait_until(static_cast<Pipe>(p), moment);
}

// The ordered chain: core i goes when core i-1 has notified; the chain may run several times.
void determine_init(const GmTensor& gm, const UbTensor& ub, Loc loc) {
    Core& core = current_core("InitDetermineComputeWorkspace");
    const Instr instr = core.begin("InitDetermineComputeWorkspace", kS, loc);
    const uint64_t bytes = uint64_t(core.launch.blocks) * 32;
    touch_slots(core, instr, gm, ub, bytes, bytes);
}

void determine_wait(const GmTensor& gm, const UbTensor& ub, Loc loc) {
    Core& core = current_core("WaitPreBlock");
    const Instr instr = core.begin("WaitPreBlock", kS, loc);
    refuse_more_blocks_than_cores(core, instr);
    enter_chain(core, instr, gm, ub);
    const uint64_t round = core.cross_waits[-1]++;
    const uint32_t before = core.block == 0 ? core.launch.blocks - 1 : core.block - 1;
    // Core 0 starts each round after the last core ended the one before.
    const uint64_t needed = core.block == 0 ? round : round + 1;
    std::unique_lock<std::mutex> lock(core.launch.mutex);
    const std::pair<const void*, int64_t> key{gm.address, -1 - int64_t(before)};
    core.launch.wait(lock, core, instr, "deadlock",
                     [&] { return core.launch.signals[key].count >= needed; });
    lock.lock();
    auto& signal = core.launch.signals[key];
    if (needed > 0) raise_to(core.remote, signal.clocks);
    const double moment = needed > 0 ? signal.time + core.soc.cost.scalar_gm_access * 2 : 0;
    lock.unlock();
    for (int p = 0; p < kPipes; ++p) core.wait_until(static_cast<Pipe>(p), moment);
}

void determine_notify(const GmTensor& gm, const UbTensor& ub, Loc loc) {
    Core& core = current_core("NotifyNextBlock");
    const Instr instr = core.begin("NotifyNextBlock", kS, loc);
    enter_chain(core, instr, gm, ub);
    core.flush_atomics();
    std::unique_lock<std::mutex> lock(core.launch.mutex);
    auto& signal = core.launch.signals[{gm.address, -1 - int64_t(core.block)}];
    publish(core, signal.clocks);
    ++signal.count;
    signal.time = core.time[kS];
    core.launch.state_changed();
}

}  // namespace ascendc_emulator::rt
