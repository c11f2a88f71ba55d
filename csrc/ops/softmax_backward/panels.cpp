// Calls that are cut into panels (core/panels.h).
#include <algorithm>

#include "core/cache_line.h"
#include "core/integers.h"
#include "core/processor.h"
#include "core/streaming.h"
#include "ops/softmax_backward/op.h"

namespace ascend_grad {

using Op = SoftmaxBackward;

namespace {

// Whether some operand's lines would be read or written in parts, here and there (measured).
bool splits_lines(const Op::Plan& plan) {
    constexpr int64_t kFew = 8;
    const int inner = plan.rows.count - 1;
    if (inner == 0) return false;
    const int64_t columns = plan.rows.extent[inner];
    const auto size = [&](int k) {
        return data_type_size(k == Op::kOut ? plan.out_dtype : plan.dtype);
    };
    switch (plan.traversal) {
        case Op::Traversal::kAcrossRows:
            return !plan.is_plane && columns * size(0) <= 2 * kCacheLine;
        case Op::Traversal::kAlongRows:
            for (int k = 0; k < 3; ++k) {
                const bool follow = plan.rows.stride[inner][k] == plan.length * size(k);
                if (!follow && plan.length > 1 && plan.length <= kFew) return true;
            }
            return false;
        case Op::Traversal::kStaged:
            break;
        default:
            return false;
    }
    // Its neighbours are along neither of a tile's axes; few of either kind are no reason.
    if (std::min(plan.length, columns) < kFew) return false;
    for (int k = 0; k < 3; ++k) {
        const int64_t nearest =
            std::min(magnitude(plan.stride[k]), magnitude(plan.rows.stride[inner][k]));
        for (int d = 0; d < inner; ++d) {
            const int64_t stride = magnitude(plan.rows.stride[d][k]);
            if (stride != 0 && stride < nearest && plan.rows.extent[d] >= kFew) return true;
        }
    }
    return false;
}

// Whether rows next to each other are so few that it pays to copy one operand, if that lengthens
// the others' runs (measured).
bool walks_short_runs(const Op::Plan& plan) {
    constexpr int64_t kShortBytes = 1024;
    const int inner = plan.rows.count - 1;
    const auto size = data_type_size(plan.dtype);
    return plan.traversal == Op::Traversal::kAcrossRows && inner > 0 && !plan.is_plane &&
           saturated_bytes(plan.rows.extent[inner], size) <= kShortBytes;
}

// Whether results are transposed that had better be copied (measured).
bool transposes_near(const Op::Plan& plan) {
    constexpr int64_t kShortBytes = 256, kLongBytes = 1024, kShortLength = 32;
    const int inner = plan.rows.count - 1;
    const int64_t run = saturated_bytes(plan.rows.extent[inner], data_type_size(plan.dtype));
    switch (plan.traversal) {
        case Op::Traversal::kAlongToAcross:  // not streamed or, on some, not of few or short rows
            return !streaming_pays(plan.bytes, false, Gain::kOnceNotKept) ||
                   (processor().copies_transposed && run >= kLongBytes &&
                    plan.length > kShortLength);
        case Op::Traversal::kAcrossToAlong:  // few rows are next to each other
            return run <= kShortBytes;
        default:
            return false;
    }
}

// The axes of a call, outermost first: as they lie in that operand.
int list_axes(const Op::Plan& plan, int operand, PanelAxis* axes) {
    const int count = plan.rows.count + 1;
    for (int i = 0; i < count; ++i) {
        PanelAxis& axis = axes[i];
        axis.is_whole = i == plan.rows.count;
        axis.unit = 1;
        for (int k = 0; k < 3; ++k) {
            axis.extent[k] = axis.is_whole ? plan.length : plan.rows.extent[i];
            axis.stride[k] = axis.is_whole ? plan.stride[k] : plan.rows.stride[i][k];
        }
    }
    std::stable_sort(axes, axes + count, [&](const PanelAxis& a, const PanelAxis& b) {
        return magnitude(a.stride[operand]) > magnitude(b.stride[operand]);
    });
    return count;
}

// The call on a panel that has so many elements along each axis.
template <class Extent>
Op::Plan plan_of(const Op::Plan& call, const Panels& panels, const Extent& extent) {
    TensorView views[3];
    Op::Args args;
    for (int k = 0; k < 3; ++k) {
        int64_t shape[Panels::kMaxAxes];
        for (int i = 0; i < panels.axes; ++i) shape[i] = extent(i, k);
        views[k].dtype = k == Op::kOut ? call.out_dtype : call.dtype;
        set_contiguous(views[k], panels.axes, shape);
        for (int i = 0; i < panels.axes; ++i) views[k].strides[i] = panels.stride(i, k);
        args.tensors[k] = &views[k];
    }
    for (int i = 0; i < panels.axes; ++i)
        if (panels.axis[i].is_whole) args.dim = i;
    Op::Plan plan = Op::direct_plan(args);
    // Rows beyond a panel's are another's, and its results may replace an input.
    plan.rows_beyond = 0;
    plan.streaming_fits = false;
    return plan;
}

// Cuts the call into panels. All operands are copied or, where one is in place, the single other
// one that does not lie as it does; false if that is not one.
bool cut(const Op::Plan& plan, const void* output, int in_place, Panels& panels,
         bool are_large = false) {
    if (plan.rows.count >= Panels::kMaxAxes) return false;
    PanelAxis axes[Panels::kMaxAxes];
    const int count = list_axes(plan, in_place == Panels::kAllCopied ? Op::kOut : in_place, axes);
    panels.in_place = static_cast<int8_t>(in_place);
    panels.are_large = are_large;
    for (int k = 0; k < 3; ++k)
        panels.copied[k] = in_place == Panels::kAllCopied || !lie_alike(axes, count, in_place, k);
    if (in_place != Panels::kAllCopied && std::count(panels.copied, panels.copied + 3, true) != 1)
        return false;
    const DataType dtypes[] = {plan.dtype, plan.dtype, plan.out_dtype};
    return cut_into_panels(panels, axes, count, dtypes, 3, true, output, plan.bytes);
}

// Whether vectors across rows would be mostly empty: those of planes are filled from the next.
bool is_thin(const Op::Plan& plan) {
    constexpr int64_t kFew = 8, kFewOfPlane = 3;  // measured
    const int inner = plan.rows.count - 1;
    return plan.traversal == Op::Traversal::kAcrossRows &&
           plan.rows.extent[inner] < (plan.is_plane ? kFewOfPlane : kFew);
}

// Panels of which only one operand is copied, while the others are walked in the order of memory in
// runs of so many bytes: shorter ones are copied faster; larger panels pay where these are not
// enough (measured). `is_optional`: not where vectors would be thin, nor threads fewer; but from
// memory what goes through tiles now gains even so.
bool cut_in_place(Op::Plan& plan, const void* output, bool is_optional) {
    constexpr int64_t kFewestBytes = kCacheLine, kEnoughBytes = 4096;
    for (int operand = 0; operand < 2; ++operand) {
        Panels panels{}, larger{};
        if (!cut(plan, output, operand, panels)) continue;
        if (panels.run(operand) < kEnoughBytes && cut(plan, output, operand, larger, true))
            panels = larger;
        if (panels.run(operand) < kFewestBytes) continue;
        plan.panels = panels;
        const Op::Plan middle = Op::panel_plan(plan, panels.count / 2);
        plan.panels.count = 0;
        const bool needs_threads = plan.is_direct() || !comes_from_memory(plan.bytes);
        if (!middle.is_direct() || (is_optional && is_thin(middle)) ||
            (is_optional && needs_threads && !panels.keeps_threads(plan)))
            continue;
        use_panels(plan, middle, panels);
        return true;
    }
    return false;
}

void take_panels(Op::Plan& plan, const void* output) {
    if (cut_in_place(plan, output, false)) return;
    Panels panels{};
    if (!cut(plan, output, Panels::kAllCopied, panels)) return;
    const auto whole = [&](int i, int k) { return panels.extent(i, k); };
    const Op::Plan dense = plan_of(plan, panels, whole);
    if (!dense.split) use_panels(plan, dense, panels);
}

}  // namespace

Op::Plan Op::panel_plan(const Plan& call, int64_t panel) {
    const Panels& panels = call.panels;
    Plan plan = plan_of(call, panels, [&](int i, int k) { return panels.count_at(panel, i, k); });
    plan.split = false;
    plan.tasks = plan.groups;
    return plan;
}

Op::Plan Op::plan(const Args& args) {
    constexpr int64_t kFewestElements = 3;  // of a row, that gain by panels (measured)
    Plan plan = direct_plan(args);
    if (plan.is_empty) return plan;
    const void* const output = args.tensors[kOut]->data;
    if (splits_lines(plan)) {
        take_panels(plan, output);
    } else if (!plan.split && plan.length >= kFewestElements &&
               (!plan.is_direct() || walks_short_runs(plan) || transposes_near(plan))) {
        cut_in_place(plan, output, true);
    }
    return plan;
}

}  // namespace ascend_grad
