// Calls whose operands lie so that no traversal reads whole cache lines of all of them. They are
// cut into panels, boxes of the axes along which elements do not depend on each other: a panel's
// operands are copied to dense scratch, the operator runs there as on a small call of its own, and
// results are copied back. Its plan is that of the dense panel.
#pragma once

#include <cstdint>

#include "core/layout.h"
#include "core/parallel.h"
#include "isa/copy_box.h"

namespace ascend_grad {

// An axis of a call. What depends on each other along it is in one panel, else extents are equal.
struct PanelAxis {
    int64_t extent[Loops::kMaxOperands];
    int64_t stride[Loops::kMaxOperands];  // bytes
    bool is_whole;
    int64_t unit;  // else panels have multiples of it, but for the last one
};

struct Panels {
    static constexpr int kMaxAxes = kBoxAxes;
    static constexpr int64_t kAlignment = 64;

    int64_t count = 0;  // 0: the call is not cut
    int64_t tasks;      // of a panel
    int64_t shares;     // of all panels, each with scratch of its own
    int32_t axes, operands;
    bool writes;               // the last operand is an output
    PanelAxis axis[kMaxAxes];  // in the order of dense panels, outermost first
    int64_t box[kMaxAxes];     // extent of a panel along an axis
    int64_t size[Loops::kMaxOperands];
    int64_t scratch[Loops::kMaxOperands + 1];  // where in a share's the operands begin, and its end

    // Of an operand's panel along an axis.
    int64_t extent(int i, int operand) const {
        return axis[i].is_whole ? axis[i].extent[operand] : box[i];
    }
    // A panel's first element along an axis.
    int64_t begin(int64_t panel, int i) const;
    uint64_t workspace_size() const { return static_cast<uint64_t>(shares * scratch[operands]); }
    // An operand's dense panel, at an address with its alignment.
    TensorView view(int operand, DataType dtype) const;
};

// Cuts a call that moves so many bytes into panels. Its axes come in the order that dense panels
// shall have. False where these are too many, or too long for panels that would gain something.
bool cut_into_panels(Panels& panels, const PanelAxis* axes, int count, const DataType* dtypes,
                     int operands, bool writes, int64_t bytes);

// The first panel of a share.
int64_t first_panel(const Panels& panels, int64_t share);
// An operand's panel from memory to scratch, or back. What a panel at the end of an axis lacks
// stays as it was: nothing depends on it.
void copy_panel(const Panels& panels, int64_t panel, int operand, char* memory, char* scratch,
                bool takes_back);

// Calls run(addresses of the operands' scratch, panel) for every panel.
template <class Run>
void run_panels(const Panels& panels, char* const* memory, void* workspace, int threads,
                const Run& run) {
    const auto some = static_cast<int>(threads < panels.shares ? threads : panels.shares);
    parallel_for(panels.shares, some, [&](int64_t begin, int64_t end) {
        const int inputs = panels.operands - (panels.writes ? 1 : 0);
        for (int64_t share = begin; share < end; ++share) {
            char* const scratch =
                static_cast<char*>(workspace) + share * panels.scratch[panels.operands];
            char* at[Loops::kMaxOperands];
            for (int k = 0; k < panels.operands; ++k) at[k] = scratch + panels.scratch[k];
            const int64_t last = first_panel(panels, share + 1);
            for (int64_t panel = first_panel(panels, share); panel < last; ++panel) {
                for (int k = 0; k < inputs; ++k)
                    copy_panel(panels, panel, k, memory[k], at[k], false);
                run(at, panel);
                if (panels.writes)
                    copy_panel(panels, panel, inputs, memory[inputs], at[inputs], true);
            }
        }
    });
}

}  // namespace ascend_grad
