#include "core/panels.h"

#include <algorithm>

#include "core/integers.h"

namespace ascend_grad {

TensorView Panels::view(int operand, DataType dtype) const {
    TensorView result;
    result.dtype = dtype;
    int64_t shape[kMaxAxes];
    for (int i = 0; i < axes; ++i) shape[i] = extent(i, operand);
    set_contiguous(result, axes, shape);
    result.data = reinterpret_cast<void*>(static_cast<uintptr_t>(kAlignment + scratch[operand]));
    return result;
}

bool lie_alike(const PanelAxis* axes, int count, int operand, int other) {
    const auto is_nearer = [&](const PanelAxis& a, const PanelAxis& b, int k) {
        return magnitude(a.stride[k]) < magnitude(b.stride[k]);
    };
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < count; ++j) {
            const PanelAxis &a = axes[i], &b = axes[j];
            if (a.extent[operand] > 1 && b.extent[operand] > 1 &&
                is_nearer(a, b, operand) != is_nearer(a, b, other))
                return false;
        }
    }
    return true;
}

bool neighbours_compete(const Panels& panels) {
    int cut = -1;
    for (int k = 0; k < panels.operands; ++k) {
        const int nearest = panels.nearest(k);
        if (nearest < 0 || panels.axis[nearest].is_whole) continue;
        if (cut >= 0 && nearest != cut) return true;
        cut = nearest;
    }
    return false;
}

int64_t Panels::stride(int i, int operand) const {
    if (!copied[operand]) return axis[i].stride[operand];
    int64_t result = size[operand];
    for (int k = i + 1; k < axes; ++k) result *= extent(k, operand);
    return result;
}

int64_t Panels::count_along(int i) const {
    return divide_up(axis[i].extent[0] + lead_along(i), box[i]);
}

int64_t Panels::begin(int64_t panel, int i) const {
    if (axis[i].is_whole) return 0;
    const auto stride = [&](int k) { return magnitude(axis[k].stride[operands - 1]); };
    for (int k = 0; k < axes; ++k) {
        const bool is_nearer = stride(k) < stride(i) || (stride(k) == stride(i) && k > i);
        if (is_nearer && !axis[k].is_whole) panel /= count_along(k);
    }
    return std::max<int64_t>(0, panel % count_along(i) * box[i] - lead_along(i));
}

int64_t Panels::count_at(int64_t panel, int i, int operand) const {
    const int64_t first = begin(panel, i), all = axis[i].extent[operand];
    if (axis[i].is_whole) return all;
    return std::min(first == 0 ? box[i] - lead_along(i) : box[i], all - first);
}

int64_t Panels::elements(int operand) const {
    int64_t n = 1;
    for (int i = 0; i < axes; ++i) n *= extent(i, operand);
    return n;
}

int Panels::nearest(int operand) const {
    return nearest_axis(
        axes, [&](int i) { return axis[i].extent[operand]; },
        [&](int i) { return axis[i].stride[operand]; });
}

int64_t Panels::run(int operand, int& next) const {
    const int64_t elements = run_of_part(
        axes, [&](int i) { return extent(i, operand); },
        [&](int i) { return axis[i].extent[operand]; },
        [&](int i) { return axis[i].stride[operand]; }, next);
    return elements * size[operand];
}

int64_t Panels::run(int operand) const {
    int next;
    return run(operand, next);
}

const char* Panels::copies() const {
    const bool are_all = std::all_of(copied, copied + operands, [](bool is) { return is; });
    return are_all ? "operands in panels" : "some operands in panels";
}

int64_t Panels::first_of_share(int64_t share) const {
    return share * (count / shares) + std::min(share, count % shares);
}

}  // namespace ascend_grad
