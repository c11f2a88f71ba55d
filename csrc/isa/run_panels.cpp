#include "isa/run_panels.h"

#include <utility>

#include "isa/copy_box.h"
#include "isa/environment.h"

namespace ascend_grad {

void copy_panel(const Panels& panels, int64_t panel, int64_t next, int operand, char* memory,
                char* scratch, bool takes_back) {
    static_assert(Panels::kMaxAxes <= kCopyAxes);
    CopyAxis axes[Panels::kMaxAxes];
    const int64_t size = panels.size[operand];
    int64_t pitch = size, ahead = 0;
    for (int i = panels.axes - 1; i >= 0; --i) {
        const PanelAxis& axis = panels.axis[i];
        const int64_t begin = panels.begin(panel, i);
        axes[i] = {panels.count_at(panel, i, operand), axis.stride[operand], pitch};
        pitch *= panels.extent(i, operand);
        memory += begin * axis.stride[operand];
        ahead += (panels.begin(next, i) - begin) * axis.stride[operand];
    }
    const CopyBox copy = OF_LEVEL_IN_USE(copy_box)[copy_box_index(size)];
    if (!takes_back) return copy(scratch, memory, axes, panels.axes, {ahead, 0, false});
    for (int i = 0; i < panels.axes; ++i) std::swap(axes[i].from, axes[i].to);
    copy(memory, scratch, axes, panels.axes, {0, panels.streams ? 0 : ahead, panels.streams});
}

char* panel_in_place(const Panels& panels, int64_t panel, int operand, char* memory) {
    for (int i = 0; i < panels.axes; ++i)
        memory += panels.begin(panel, i) * panels.axis[i].stride[operand];
    return memory;
}

}  // namespace ascend_grad
