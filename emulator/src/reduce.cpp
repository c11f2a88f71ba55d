// Reductions inside repeats, in the documented order: a tree over neighbours.
#include <algorithm>

#include "reduce_lanes.h"

namespace ascendc_emulator {

namespace {

using AscendC::ReduceOrder;
using rt::Reduce;

Kind kind_of(Reduce r) {
    switch (r) {
        case Reduce::whole_max:
        case Reduce::block_max:
            return Kind::max;
        case Reduce::whole_min:
        case Reduce::block_min:
            return Kind::min;
        default:
            return Kind::sum;
    }
}

struct Output {
    uint64_t unit;  // bytes of one dstRepStride
    uint32_t alignment;
    uint32_t bytes;   // written per repeat at most
    uint32_t groups;  // results per repeat
    uint32_t lanes;   // lanes per result
};

Output output_of(Reduce kind, ReduceOrder order, uint32_t element, uint32_t lanes) {
    switch (kind) {
        case Reduce::whole_sum:
            return {element, element, element, 1, lanes};
        case Reduce::whole_max:
        case Reduce::whole_min: {
            const bool pair =
                order == ReduceOrder::ORDER_VALUE_INDEX || order == ReduceOrder::ORDER_INDEX_VALUE;
            const uint32_t size = pair                                     ? 2 * element
                                  : order == ReduceOrder::ORDER_ONLY_INDEX ? 4
                                                                           : element;
            return {size, size, size, 1, lanes};
        }
        case Reduce::pair_sum:
            return {128, 32, 128, lanes / 2, 2};
        default:
            return {8 * element, 8 * element, 8 * element, 8, 32 / element};
    }
}

bool check_order(Core& core, const Instr& instr, const UbTensor& dst, Reduce kind,
                 ReduceOrder order) {
    if (kind != Reduce::whole_max && kind != Reduce::whole_min) return true;
    const bool ok = core.soc.arch == 220 || order == ReduceOrder::ORDER_VALUE_INDEX ||
                    (core.soc.arch == 200 && order == ReduceOrder::ORDER_INDEX_VALUE);
    if (!ok)
        core.report(core.make("unsupported", instr,
                              "this ReduceOrder does not exist on " + std::string(core.soc.name),
                              dst, static_cast<int64_t>(order)));
    return ok;
}

}  // namespace
}  // namespace ascendc_emulator

namespace ascendc_emulator::rt {

void reduce_repeats(const VectorCall& call, Reduce kind, ReduceOrder order, Loc loc) {
    Core& core = current_core(call.name);
    const Instr instr = core.begin(call.name, kV, loc);
    const UbTensor &dst = call.dst.tensor, &src = call.src0.tensor;
    if (!check_order(core, instr, dst, kind, order)) return;
    if (core.soc.arch == 100 && dst.dtype == DType::f32)
        core.note("reduce-float-910", instr,
                  "float reductions are documented for half only on ascend910");
    Walk walk;
    if (!plan(core, instr, call, src.element_size, walk)) return;
    if (core.soc.arch == 100 && call.dst.repeat_stride == 0 && walk.repeats > 1) {
        core.report(core.make("illegal-stride", instr, "dstRepStride 0 is not allowed on ascend910",
                              dst, 0));
        return;
    }
    const Layout s = layout_of(call.src0, walk);
    const auto from = ranges_of(walk, s);
    const Output out = output_of(kind, order, dst.element_size, walk.lanes);
    const auto place = [&](uint64_t repeat, uint32_t group) {
        return dst.address + repeat * call.dst.repeat_stride * out.unit +
               uint64_t(group) * (out.groups == 1 ? 0 : dst.element_size);
    };
    const uint32_t bytes_of_group = out.groups == 1 ? out.bytes : dst.element_size;
    // A group without an active lane is not written.
    std::vector<Range> to;
    for (uint64_t r = 0; r < walk.repeats; ++r)
        for (uint32_t g = 0; g < out.groups; ++g) {
            bool active = false;
            for (uint32_t i = 0; i < out.lanes; ++i)
                active = active || walk.mask_of(r).test(g * out.lanes + i);
            const uint64_t at = place(r, g);
            if (!active) continue;
            if (!to.empty() && to.back().end == at)
                to.back().end += bytes_of_group;
            else
                to.push_back({at, at + bytes_of_group});
        }
    if (!check_operand(core, instr, src, "src", from, 32)) return;
    if (!check_operand(core, instr, dst, "dst", to, out.alignment)) return;
    check_reduced(core, instr, src, "src", from);
    use_operand(core, instr, dst, "dst", to, true);
    const Writer write{core, dst.dtype, dst.element_size};
    WrittenBytes written(core, hull(to), hull(from));
    const char* const unit = out.groups == 1 ? "repeat" : "group";
    bool clean = true;
    for (uint64_t r = 0; r < walk.repeats; ++r) {
        for (uint32_t g = 0; g < out.groups; ++g) {
            for (uint32_t lane = g * out.lanes; lane < (g + 1) * out.lanes; ++lane) {
                const uint64_t at = s.address(r, lane);
                clean = clean && (!walk.mask_of(r).test(lane) ||
                                  written.allow(core, instr, dst, {at, at + s.element}, "src", unit,
                                                r * out.groups + g));
            }
            auto lanes = lanes_of(core, walk, s, src.dtype, r, g * out.lanes, out.lanes);
            const Lane result = tree(src.dtype, kind_of(kind), lanes);
            if (!result.active) continue;
            written.add({place(r, g), place(r, g) + bytes_of_group});
            if (kind == Reduce::whole_max || kind == Reduce::whole_min) {
                write.extreme(place(r, g), result, order);
                core.extreme_value = 0;
                write_value(src.dtype, reinterpret_cast<uint8_t*>(&core.extreme_value),
                            result.value);
                core.extreme_index = result.index;
            } else {
                write.value(place(r, g), result.value);
            }
        }
    }
    const double weight = kind == Reduce::pair_sum || out.groups == 8 ? 2 : 4;
    core.charge(instr, vector_cycles(core, weight, walk.repeats), walk.repeats);
}

}  // namespace ascendc_emulator::rt
