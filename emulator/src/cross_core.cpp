// All cores at once: SyncAll, and flags between cores.
#include <algorithm>
#include <cstring>

#include "cross_core.h"

namespace ascendc_emulator {
namespace {

// Who comes second is luck: the core that counts fewer is named.
Report unequal_cores(Core& core, const Instr& instr, const Launch::Barrier& barrier,
                     uint32_t members) {
    const auto [fewer, more] = std::minmax(members, barrier.members);
    Report r = core.make("illegal-argument", instr,
                         "usedCores " + std::to_string(fewer) + " here, but " +
                             std::to_string(more) + " in another core that waits");
    r.core = static_cast<int>(fewer == members ? core.block : barrier.first);
    r.index = fewer;
    return r;
}

// The first `members` cores meet by the workspace (null: in hardware); each leaves knowing what all
// did before.
void meet(Core& core, const Instr& instr, const void* workspace, uint32_t members, double cycles) {
    Launch& launch = core.launch;
    refuse_more_blocks_than_cores(core, instr);
    core.barrier_all();
    std::unique_lock<std::mutex> lock(launch.mutex);
    Launch::Barrier& barrier = launch.barriers[workspace];
    publish(core, barrier.clocks);
    barrier.time = std::max(barrier.time, core.time[kS]);
    const uint32_t round = barrier.round;
    if (barrier.arrived == 0) {
        barrier.first = core.block;
        barrier.members = members;
    }
    if (members != barrier.members) {
        Report r = unequal_cores(core, instr, barrier, members);
        lock.unlock();
        core.report(std::move(r));
        return;
    }
    if (++barrier.arrived == members) {
        launch.release_atomics(members);
        barrier.arrived = 0;
        barrier.released_clocks = barrier.clocks;
        barrier.released_time = barrier.time;
        ++barrier.round;
        launch.state_changed();
    } else {
        launch.wait(lock, core, instr, "sync-all-incomplete",
                    [&] { return barrier.round != round; });
        lock.lock();
    }
    // The next round cannot be released before this core arrives there.
    raise_to(core.remote, barrier.released_clocks);
    const double moment = barrier.released_time + cycles;
    lock.unlock();
    for (int p = 0; p < kPipes; ++p) core.wait_until(static_cast<Pipe>(p), moment);
}

}  // namespace
}  // namespace ascendc_emulator

namespace ascendc_emulator::rt {

void sync_all(Loc loc) {
    Core& core = current_core("SyncAll");
    const Instr instr = core.begin("SyncAll", kS, loc);
    meet(core, instr, nullptr, core.launch.blocks, core.soc.cost.sync_all);
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
    if (core.block >= members) {
        Report r = core.make("illegal-argument", instr,
                             "usedCores " + std::to_string(used_cores) + " means cores 0.." +
                                 std::to_string(used_cores - 1) + ", and this is core " +
                                 std::to_string(core.block));
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
    uint32_t& times = core.sync_counts[gm.address];
    if (times++ == 0) check_zeroed(core, instr, gm, bytes);
    meet(core, instr, gm.address, members, std::max(core.soc.cost.sync_all_soft, 2000.0));
    // The slots count up and stay: the next launch needs a workspace that is zero again.
    auto buffer = core.gm_range(instr, gm, 0, bytes);
    if (!buffer) return;
    const uint64_t slot =
        static_cast<uint64_t>(gm.address - buffer->begin) + uint64_t(core.block) * 32;
    buffer->locked_pages(slot, slot + 4, [&](uint64_t b, uint64_t e) {
        std::memcpy(buffer->begin + b, reinterpret_cast<uint8_t*>(&times) + (b - slot), e - b);
    });
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
    // What the named pipe has finished, and what it knew of the others.
    Launch::CrossSet now;
    now.clocks.resize(size_t(core.launch.blocks) * kPipes);
    raise_to(now.clocks, core.remote);
    const Pipe p = pipe == PIPE_MTE3 ? kMte3 : pipe == PIPE_MTE2 ? kMte2 : pipe == PIPE_V ? kV : kS;
    const Flag f = core.make_flag(p, loc);
    for (int i = 0; i < kPipes; ++i) now.clocks[core.block * kPipes + i] = f.clocks[i];
    now.time = f.time;
    core.launch.cross_flags[{key, core.block}].sets.push_back(std::move(now));
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
        for (uint32_t b = first; b < last; ++b)
            if (core.launch.cross_flags[{key, b}].count() < wanted) return false;
        return true;
    });
    lock.lock();
    double latest = 0;
    for (uint32_t b = first; b < last; ++b) {
        auto& flag = core.launch.cross_flags[{key, b}];
        Launch::CrossSet& set = flag.sets[wanted - 1 - flag.done];
        raise_to(core.remote, set.clocks);
        latest = std::max(latest, set.time);
        if (++set.readers < last - first) continue;
        flag.sets.pop_front();  // members wait in order, so this was the oldest
        ++flag.done;
    }
    lock.unlock();
    core.wait_until(kS, latest + core.soc.cost.sync_all);
}

}  // namespace ascendc_emulator::rt
