// What a kernel asks about where it runs, and how it ends early.
#include <cstring>

#include "launch.h"

namespace ascendc_emulator::rt {

thread_local int32_t core_type = AscendC::MIX;

int64_t block_index() {
    return current_core("GetBlockIdx").block;
}
int64_t block_number() {
    return current_core("GetBlockNum").launch.block_dim;
}
int64_t sub_block_index() {
    const Core& core = current_core("GetSubBlockIdx");
    return core.block % static_cast<uint32_t>(core.launch.sub_blocks);
}
int64_t sub_block_number() {
    return current_core("GetSubBlockNum").launch.sub_blocks;
}
int64_t task_ratio() {
    return current_core("GetTaskRation").launch.sub_blocks;
}
int64_t system_cycle() {
    return static_cast<int64_t>(current_core("GetSystemCycle").time[kS]);
}

uint8_t* system_workspace() {
    static uint8_t* workspace = [] {
        constexpr size_t kBytes = 16 * 1024 * 1024;
        auto* p = static_cast<uint8_t*>(GmAlloc(kBytes));
        std::memset(p, 0, kBytes);
        name_gm(p, "system workspace");
        return p;
    }();
    return workspace;
}

void trap(Loc loc) {
    Core& core = current_core("Trap");
    const Instr instr = core.begin("Trap", kS, loc);
    core.report(core.make("trap", instr, "the kernel called Trap"));
    throw StopKernel{};
}

void kernel_assert_failed(const char* condition, Loc loc) {
    Core& core = current_core("ASSERT");
    const Instr instr = core.begin("ASSERT", kS, loc);
    core.report(core.make("assert", instr, std::string("assertion failed: ") + condition));
}

}  // namespace ascendc_emulator::rt
