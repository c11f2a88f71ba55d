// Synchronisation between cores.
#include <algorithm>
#include <cstring>

#include "core.h"

namespace ascendc_emulator {
namespace {

void raise_to(std::vector<uint32_t>& into, const std::vector<uint32_t>& from) {
    if (into.size() < from.size()) into.resize(from.size());
    for (size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
}

// Everything the core has done or knows of, as clocks of all agents.
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

// All cores meet; each leaves knowing what all did before.
void meet(Core& core, const Instr& instr, uint32_t members, double cycles) {
    Launch& launch = core.launch;
    refuse_more_blocks_than_cores(core, instr);
    core.barrier_all();
    std::unique_lock<std::mutex> lock(launch.mutex);
    publish(core, launch.barrier_clocks);
    launch.barrier_time = std::max(launch.barrier_time, core.time[kS]);
    const uint32_t round = launch.barrier_round;
    if (++launch.barrier_arrived == members) {
        launch.release_all_atomics();
        launch.barrier_arrived = 0;
        launch.released_clocks = launch.barrier_clocks;
        launch.released_time = launch.barrier_time;
        ++launch.barrier_round;
        launch.state_changed();
    } else {
        launch.wait(lock, core, instr, "sync-all-incomplete",
                    [&] { return launch.barrier_round != round; });
        lock.lock();
    }
    // The next round cannot be released before this core arrives there.
    raise_to(core.remote, launch.released_clocks);
    const double moment = launch.released_time + cycles;
    lock.unlock();
    for (int p = 0; p < kPipes; ++p) core.wait_until(static_cast<Pipe>(p), moment);
}

// The UB slot and the GM slot that a software primitive reads and writes on the way.
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

// The workspace must be zero before the first use; a fresh GmAlloc is not.
void check_zeroed(Core& core, const Instr& instr, const GmTensor& gm, uint64_t bytes) {
    auto buffer = core.gm_range(instr, gm, 0, bytes);
    if (!buffer) return;
    const auto offset = static_cast<uint64_t>(gm.address - buffer->begin);
    const uint64_t bad = buffer->init.find(offset, offset + bytes, false);
    const bool nonzero =
        std::any_of(gm.address, gm.address + bytes, [](uint8_t b) { return b != 0; });
    if (bad == offset + bytes && !nonzero) return;
    Report r = core.make("workspace-not-zero", instr,
                         "the GM workspace must be zero before the kernel starts");
    r.tensor = buffer->describe();
    r.begin = offset;
    r.end = offset + bytes;
    core.report(std::move(r));
}

}  // namespace
}  // namespace ascendc_emulator

namespace ascendc_emulator::rt {

void sync_all(Loc loc) {
    Core& core = current_core("SyncAll");
    const Instr instr = core.begin("SyncAll", kS, loc);
    meet(core, instr, core.launch.blocks, core.soc.cost.sync_all);
}

void sync_all_soft(const GmTensor& gm, uint64_t gm_elements, const UbTensor& ub, int32_t used_cores,
                   Loc loc) {
    Core& core = current_core("SyncAll");
    const Instr instr = core.begin("SyncAll", kS, loc);
    const uint32_t members =
        used_cores > 0 ? static_cast<uint32_t>(used_cores) : core.launch.blocks;
    if (members > core.launch.blocks) {
        Report r = core.make("illegal-argument", instr,
                             "usedCores " + std::to_string(used_cores) + " exceeds the " +
                                 std::to_string(core.launch.blocks) + " cores of the launch");
        r.index = used_cores;
        core.report(std::move(r));
        return;
    }
    const uint64_t bytes = uint64_t(members) * 32;
    if (gm_elements != 0 && gm_elements * 4 < bytes)
        core.report(core.make("illegal-argument", instr,
                              "the GM workspace has " + std::to_string(gm_elements * 4) +
                                  " bytes, needs 32 per core: " + std::to_string(bytes)));
    touch_slots(core, instr, gm, ub, bytes, bytes);
    if (core.sync_count++ == 0) check_zeroed(core, instr, gm, bytes);
    meet(core, instr, members, std::max(core.soc.cost.sync_all_soft, 2000.0));
    // The slots count up and stay: the next launch needs a workspace that is zero again.
    auto buffer = core.gm_range(instr, gm, 0, bytes);
    if (!buffer || core.block >= members) return;
    const uint64_t slot =
        static_cast<uint64_t>(gm.address - buffer->begin) + uint64_t(core.block) * 32;
    buffer->locked_pages(slot, slot + 4, [&](uint64_t b, uint64_t e) {
        std::memcpy(buffer->begin + b, reinterpret_cast<uint8_t*>(&core.sync_count) + (b - slot),
                    e - b);
    });
}

void ib_set(const GmTensor& gm, const UbTensor& ub, int32_t block, int32_t event, Loc loc) {
    Core& core = current_core("IBSet");
    const Instr instr = core.begin("IBSet", kS, loc);
    refuse_more_blocks_than_cores(core, instr);
    const uint64_t bytes = (uint64_t(core.launch.blocks) * static_cast<uint64_t>(event) +
                            static_cast<uint64_t>(block) + 1) *
                           32;
    touch_slots(core, instr, gm, ub, bytes, 32);
    core.barrier_all();
    core.flush_atomics();
    const int64_t slot = int64_t(core.launch.blocks) * event + block;
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
    refuse_more_blocks_than_cores(core, instr);
    const uint64_t bytes = (uint64_t(core.launch.blocks) * static_cast<uint64_t>(event) +
                            static_cast<uint64_t>(block) + 1) *
                           32;
    touch_slots(core, instr, gm, ub, bytes, 32);
    core.barrier_all();
    const int64_t slot = int64_t(core.launch.blocks) * event + block;
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
    const uint64_t bytes = uint64_t(core.launch.blocks) * 32;
    touch_slots(core, instr, gm, ub, bytes, bytes);
    core.barrier_all();
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
    const uint64_t bytes = uint64_t(core.launch.blocks) * 32;
    touch_slots(core, instr, gm, ub, bytes, bytes);
    core.barrier_all();
    core.flush_atomics();
    std::unique_lock<std::mutex> lock(core.launch.mutex);
    auto& signal = core.launch.signals[{gm.address, -1 - int64_t(core.block)}];
    publish(core, signal.clocks);
    ++signal.count;
    signal.time = core.time[kS];
    core.launch.state_changed();
}

namespace {
constexpr int kMaxCrossFlag = 10;  // 11..14 serve SyncAll

bool check_cross(Core& core, const Instr& instr, int mode, uint16_t flag) {
    refuse_more_blocks_than_cores(core, instr);
    if (flag > kMaxCrossFlag) {
        Report r = core.make("event-id-range", instr,
                             "cross-core flag " + std::to_string(flag) + " is outside 0..10");
        r.index = flag;
        core.report(std::move(r));
        return false;
    }
    if (mode == 2) {
        core.report(core.make("not-emulated", instr, "mode 2 synchronises with cube cores"));
        return false;
    }
    return true;
}

// Cores that one flag joins: all vector cores (mode 0), or the two of a group (mode 1).
std::pair<uint32_t, uint32_t> members_of(const Core& core, int mode) {
    if (mode == 0) return {0, core.launch.blocks};
    const auto width = static_cast<uint32_t>(core.launch.sub_blocks);
    const uint32_t first = core.block / width * width;
    return {first, std::min(first + width, core.launch.blocks)};
}
}  // namespace

void cross_core_set(int mode, pipe_t pipe, uint16_t flag, Loc loc) {
    Core& core = current_core("CrossCoreSetFlag");
    const Instr instr = core.begin("CrossCoreSetFlag", kS, loc);
    if (!check_cross(core, instr, mode, flag)) return;
    core.flush_atomics();
    const int key = mode * 16 + flag;
    std::unique_lock<std::mutex> lock(core.launch.mutex);
    auto& clocks = core.launch.cross_clocks[{key, core.block}];
    // What the named pipe has finished, and what it knew of the others.
    std::vector<uint32_t> now(size_t(core.launch.blocks) * kPipes);
    raise_to(now, core.remote);
    const Pipe p = pipe == PIPE_MTE3 ? kMte3 : pipe == PIPE_MTE2 ? kMte2 : pipe == PIPE_V ? kV : kS;
    const Flag f = core.make_flag(p, loc);
    for (int i = 0; i < kPipes; ++i) now[core.block * kPipes + i] = f.clocks[i];
    raise_to(clocks, now);
    ++core.cross_sets[key];
    core.launch.state_changed();
}

void cross_core_wait(int mode, pipe_t, uint16_t flag, Loc loc) {
    Core& core = current_core("CrossCoreWaitFlag");
    const Instr instr = core.begin("CrossCoreWaitFlag", kS, loc);
    if (!check_cross(core, instr, mode, flag)) return;
    const int key = mode * 16 + flag;
    const uint32_t wanted = ++core.cross_waits[key];
    const auto [first, last] = members_of(core, mode);
    std::unique_lock<std::mutex> lock(core.launch.mutex);
    core.launch.wait(lock, core, instr, "deadlock", [&, first = first, last = last] {
        for (uint32_t b = first; b < last; ++b) {
            const auto& other = core.launch.cores[b];
            if (!other || other->cross_sets[key] < wanted) return false;
        }
        return true;
    });
    lock.lock();
    for (uint32_t b = first; b < last; ++b)
        raise_to(core.remote, core.launch.cross_clocks[{key, b}]);
    lock.unlock();
    core.wait_until(kS, core.time[kS] + core.soc.cost.sync_all);
}

}  // namespace ascendc_emulator::rt
