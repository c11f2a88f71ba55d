// Runs every kernel of this folder: none may give a report.
#include "tikicpulib.h"

extern "C" void arithmetic(GM_ADDR x, GM_ADDR z, GM_ADDR workspace);
extern "C" void conversion(GM_ADDR x, GM_ADDR z, GM_ADDR workspace);
extern "C" void movement(GM_ADDR x, GM_ADDR z, GM_ADDR workspace);
extern "C" void renamed(GM_ADDR x, GM_ADDR z, GM_ADDR workspace);
extern "C" void control(GM_ADDR x, GM_ADDR z, GM_ADDR workspace);

int main() {
    constexpr size_t kBytes = 16384;
    uint8_t* memory[3];
    for (uint8_t*& p : memory) {
        p = static_cast<uint8_t*>(AscendC::GmAlloc(kBytes));
        std::fill_n(p, kBytes, uint8_t(0));
    }
    AscendC::SetKernelMode(KernelMode::AIV_MODE);
    ICPU_RUN_KF(arithmetic, 1, memory[0], memory[1], memory[2]);
    ICPU_RUN_KF(conversion, 1, memory[0], memory[1], memory[2]);
    ICPU_RUN_KF(movement, 1, memory[0], memory[1], memory[2]);
    ICPU_RUN_KF(renamed, 1, memory[0], memory[1], memory[2]);
    ICPU_RUN_KF(control, 3, memory[0], memory[1], memory[2]);
    for (uint8_t* p : memory) AscendC::GmFree(p);
}
