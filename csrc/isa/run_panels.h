// Runs calls that are cut into panels.
#pragma once

#include "core/channel_sum.h"
#include "core/panels.h"
#include "core/parallel.h"

namespace ascend_grad {

// An operand's panel from memory to scratch, or back. What a panel at the end of an axis lacks
// stays as it was in scratch: nothing depends on it. Lines of panel `next` are asked for, unless it
// is the same.
void copy_panel(const Panels& panels, int64_t panel, int64_t next, int operand, char* memory,
                char* scratch, bool takes_back);

// Where an operand's panel begins.
char* panel_in_place(const Panels& panels, int64_t panel, int operand, char* memory);

// Calls run(addresses of the operands' panels, panel) for every panel.
template <class Run>
void run_panels(const Panels& panels, char* const* memory, void* workspace, int threads,
                const Run& run) {
    const int64_t scratch_bytes = panels.scratch[panels.operands];
    const int inputs = panels.operands - (panels.writes ? 1 : 0);
    parallel_for(panels.shares, threads, [&](int64_t begin, int64_t end) {
        for (int64_t share = begin; share < end; ++share) {
            char* const scratch = static_cast<char*>(workspace) + share * scratch_bytes;
            char* at[Loops::kMaxOperands];
            const int64_t last = panels.first_of_share(share + 1);
            for (int64_t panel = panels.first_of_share(share); panel < last; ++panel) {
                const int64_t next = panels.asks && panel + 1 < last ? panel + 1 : panel;
                for (int k = 0; k < panels.operands; ++k) {
                    at[k] = panels.copied[k] ? scratch + panels.scratch[k]
                                             : panel_in_place(panels, panel, k, memory[k]);
                    if (panels.copied[k] && k < inputs)
                        copy_panel(panels, panel, next, k, memory[k], at[k], false);
                }
                run(at, panel);
                if (panels.writes && panels.copied[inputs])
                    copy_panel(panels, panel, next, inputs, memory[inputs], at[inputs], true);
            }
        }
    });
}

// The same of sums over channels: run(plan, addresses, partials) with each panel's plan. The
// workspace begins with the partials of the call.
template <class Plan, class Run>
void run_sum_panels(const Plan& plan, char* const* memory, void* workspace, int threads,
                    const Run& run) {
    float* const partials = static_cast<float*>(workspace);
    char* const scratch = static_cast<char*>(workspace) + plan.sums.partial_bytes();
    run_panels(plan.sums.panels, memory, scratch, threads, [&](char* const* at, int64_t panel) {
        int64_t block;
        Plan part = plan;
        part.sums = panel_plan(plan.sums, panel, block);
        const int64_t skipped = block * part.sums.sums * part.sums.call_channels;
        run(part, at, partials + skipped + part.sums.first_channel);
    });
}

}  // namespace ascend_grad
