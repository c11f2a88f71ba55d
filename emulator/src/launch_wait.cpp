// Cores that wait for each other, and finding out that nobody can end the wait.
#include <algorithm>

#include "launch.h"

namespace ascendc_emulator {

void Launch::state_changed() {
    ++version_;
    not_ready_ = 0;
    changed.notify_all();
}

// For the first core that waits, with what the others do.
Report Launch::deadlock_report() const {
    std::string text = "waits for ever: no core is left that could end the wait";
    int shown = 0;
    for (const auto& core : cores) {
        if (!core || shown == 8) continue;
        if (core->finished) {
            text += "; core " + std::to_string(core->block) + " has ended";
        } else if (core->waiting_in != nullptr) {
            text += "; core " + std::to_string(core->block) + " waits in " + core->waiting_in +
                    " at line " + std::to_string(core->waiting_loc.line);
        } else {
            continue;
        }
        ++shown;
    }
    if (blocks > static_cast<uint32_t>(shown)) text += "; ...";
    const auto first = std::find_if(cores.begin(), cores.end(), [](const auto& core) {
        return core && core->waiting_in != nullptr;
    });
    const Core& core = **first;
    return core.make(core.waiting_rule, Instr{core.waiting_in, core.waiting_loc, kS}, text);
}

bool Launch::wait(std::unique_lock<std::mutex>& lock, Core& core, const Instr& instr,
                  const char* rule, const std::function<bool()>& ready) {
    core.waiting_in = instr.name;
    core.waiting_loc = instr.loc;
    core.waiting_rule = rule;
    ++waiting_;
    uint64_t checked = ~uint64_t(0);
    bool dead = false;
    while (!ready() && !stopped()) {
        if (checked != version_) {
            checked = version_;
            ++not_ready_;
            dead = not_ready_ == waiting_ && waiting_ + finished_cores == blocks;
            if (dead) break;
        }
        changed.wait(lock);
    }
    if (checked == version_) --not_ready_;
    --waiting_;
    const bool is_ready = ready();
    Report everybody;
    if (dead) everybody = deadlock_report();
    core.waiting_in = nullptr;
    lock.unlock();
    if (dead) {
        add_report(std::move(everybody));
        stop();
    }
    if (stopped()) throw StopKernel{};
    return is_ready;
}

}  // namespace ascendc_emulator
