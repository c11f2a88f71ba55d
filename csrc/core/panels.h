// Calls whose operands lie so that no traversal reads whole cache lines of all of them. They are
// cut into panels, boxes of the axes along which elements do not depend on each other: a panel's
// operands are copied to dense scratch, but for those that lie well, the operator runs there as on
// a small call of its own, and results are copied back.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/layout.h"
#include "core/parallel.h"

namespace ascend_grad {

// Channels side by side that isa/copy_block.h parts, or joins, faster than more: at most so many.
inline constexpr int64_t kFewInterleaved = 4;

// An axis of a call. What depends on each other along it is in one panel, else extents are equal.
struct PanelAxis {
    int64_t extent[Loops::kMaxOperands];
    int64_t stride[Loops::kMaxOperands];  // bytes
    bool is_whole;
    int64_t unit;  // else panels have multiples of it, but for the last one
};

struct Panels {
    static constexpr int kMaxAxes = 6;
    static constexpr int64_t kAlignment = 64;
    static constexpr int8_t kAllCopied = -1;  // of in_place

    int64_t count;   // 0: the call is not cut, and nothing else is set
    int64_t tasks;   // of a panel, where all have one plan
    int64_t shares;  // of all panels, each with scratch of its own
    int32_t axes, operands;
    bool writes;        // the last operand is an output
    bool asks;          // for the next panel, while one is copied
    bool streams;       // whole cache lines of the output go past the caches
    int32_t line_axis;  // along which panels end where lines of the output do, or -1
    int64_t lead;       // what the first panel along that axis lacks
    // Else the operator runs where the operand lies.
    bool copied[Loops::kMaxOperands] = {true, true, true};
    int8_t in_place = kAllCopied;  // one of these operands, in whose order scratch lies
    bool are_equal = false;        // whether all are to have one shape
    bool are_large = false;        // whether copied ones may leave the second cache, so that runs
                                   // in place are longer
    PanelAxis axis[kMaxAxes];      // in the order of dense panels, outermost first
    int64_t box[kMaxAxes];         // extent of a panel along an axis
    int64_t size[Loops::kMaxOperands];
    int64_t scratch[Loops::kMaxOperands + 1];  // where in a share's the operands begin, and its end

    // Inlined even without optimisation: instruction set levels must not share it.
    __attribute__((always_inline)) Panels() : count(0) {}
    // Of an operand's panel along an axis.
    int64_t extent(int i, int operand) const {
        return axis[i].is_whole ? axis[i].extent[operand] : box[i];
    }
    int64_t lead_along(int i) const { return i == line_axis ? lead : 0; }
    // From one element of a panel to the next along an axis, where the operator runs.
    int64_t stride(int i, int operand) const;
    int64_t first_of_share(int64_t share) const;
    // Whether as many threads share panels as would share the call's plan without them.
    template <class Plan>
    bool keeps_threads(const Plan& plan) const {
        const int64_t threads = std::min<int64_t>(plan.most_threads, threads_for(plan.bytes));
        return shares >= std::min(threads, plan.tasks);
    }
    // A panel's first element along an axis. Neighbours in the last operand come one after the
    // other, so that threads meet in few of its lines.
    int64_t begin(int64_t panel, int i) const;
    // Panels along an axis that is cut, and the extent of one of them.
    int64_t count_along(int i) const;
    int64_t count_at(int64_t panel, int i, int operand) const;
    // Of an operand's panel.
    int64_t elements(int operand) const;
    // The axis along which an operand's elements lie nearest to each other, or -1.
    int nearest(int operand) const;
    // Bytes of an operand's panel that follow each other where the tensor is dense; `next`: the
    // axis along which a larger panel would have more of them, or -1.
    int64_t run(int operand, int& next) const;
    int64_t run(int operand) const;
    // For whoever reads a plan.
    const char* copies() const;
    uint64_t workspace_size() const { return static_cast<uint64_t>(shares * scratch[operands]); }
    // An operand's dense panel, at an address with its alignment.
    TensorView view(int operand, DataType dtype) const;
};

// Whether the axes of two operands lie in one order.
bool lie_alike(const PanelAxis* axes, int count, int operand, int other);

// Whether operands' neighbours lie along different axes that are cut, so that longer runs of one
// leave less for another's; of panels that cut_into_panels() was given, whatever it returned.
bool neighbours_compete(const Panels& panels);

// Cuts a call that moves so many bytes into panels, of which `copied` is given, one at least. Its
// axes come in the order that dense panels shall have. `output` is the last operand's memory, if
// that is written; null where it is still to be allocated, which is expected from a cache line on.
// False where axes are too many, or too long for panels that would gain something.
bool cut_into_panels(Panels& panels, const PanelAxis* axes, int count, const DataType* dtypes,
                     int operands, bool writes, const void* output, int64_t bytes);

// Makes a call's plan that of panels with the plan `dense`: kernels use the latter.
template <class Plan>
void use_panels(Plan& plan, const Plan& dense, const Panels& panels) {
    const int64_t bytes = plan.bytes;
    plan = dense;
    plan.panels = panels;
    plan.panels.tasks = dense.tasks;
    plan.tasks = panels.count;
    plan.most_threads = panels.shares;
    plan.bytes = bytes;
    plan.workspace_size = panels.workspace_size();
}

}  // namespace ascend_grad
