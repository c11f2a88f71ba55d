// Elementwise instructions: one frame for all of them.
#include <algorithm>
#include <cstring>

#include "lane_ops.h"
#include "vector_engine.h"

namespace ascendc_emulator {
namespace {

using rt::Op;

bool accumulates(Op op) {
    return op == Op::mul_add_dst || op == Op::axpy || op == Op::fused_mul_add ||
           op == Op::fused_mul_add_relu;
}

// Instructions for which an earlier repeat's dst may be a later source (accumulation).
bool chains(Op op, DType dtype) {
    const bool operation = op == Op::add || op == Op::sub || op == Op::mul || op == Op::max ||
                           op == Op::min || op == Op::add_relu || op == Op::sub_relu;
    return operation && (dtype == DType::f16 || dtype == DType::i32 || dtype == DType::f32);
}

void execute(Core& core, const rt::VectorCall& call, const Walk& walk, LaneFunction function,
             const Layout& dst, const Layout& s0, const Layout& s1) {
    alignas(64) uint8_t out[1024], in0[1024], in1[1024];
    LaneArgs args{out,
                  call.sources > 0 ? in0 : nullptr,
                  call.sources > 1 ? in1 : nullptr,
                  &call.scalar,
                  walk.lanes,
                  call.flag};
    std::memset(in0, 0, sizeof in0);
    std::memset(in1, 0, sizeof in1);
    std::memset(out, 0, sizeof out);
    for (uint64_t r = 0; r < walk.repeats; ++r) {
        if (call.sources > 0) load_lanes(core, walk, s0, r, in0);
        if (call.sources > 1) load_lanes(core, walk, s1, r, in1);
        if (accumulates(call.op)) load_lanes(core, walk, dst, r, out);
        function(args);
        store_lanes(core, walk, dst, r, out);
    }
}

// The common case without gathering: every operand one stretch, dst disjoint from or equal to
// sources.
bool execute_flat(Core& core, const rt::VectorCall& call, const Walk& walk, LaneFunction function) {
    if (!walk.contiguous) return false;
    uint8_t* ub = core.ub.data();
    const LaneArgs args{ub + call.dst.tensor.address,
                        call.sources > 0 ? ub + call.src0.tensor.address : nullptr,
                        call.sources > 1 ? ub + call.src1.tensor.address : nullptr,
                        &call.scalar,
                        static_cast<uint32_t>(walk.elements),
                        call.flag};
    function(args);
    return true;
}

}  // namespace
}  // namespace ascendc_emulator

namespace ascendc_emulator::rt {

void elementwise(const VectorCall& call, Loc loc) {
    Core& core = current_core(call.name);
    const Instr instr = core.begin(call.name, kV, loc);
    const DType src_dtype = call.sources > 0 ? call.src0.tensor.dtype : call.dst.tensor.dtype;
    const LaneFunction function = find_lane_function(call.op, call.dst.tensor.dtype, src_dtype);
    if (function == nullptr) {
        core.report(core.make("not-emulated", instr,
                              std::string("no emulation for ") + dtype_name(call.dst.tensor.dtype),
                              call.dst.tensor));
        return;
    }
    Walk walk;
    const uint32_t widest = std::max(call.dst.tensor.element_size,
                                     call.sources > 0 ? call.src0.tensor.element_size : uint8_t(1));
    if (!plan(core, instr, call, widest, walk)) return;
    const Layout dst = layout_of(call.dst, walk);
    const Layout s0 = layout_of(call.src0, walk), s1 = layout_of(call.src1, walk);
    const auto dst_ranges = ranges_of(walk, dst);
    std::vector<Range> s0_ranges, s1_ranges;
    if (!check_operand(core, instr, call.dst.tensor, "dst", dst_ranges, 32)) return;
    if (call.sources > 0) {
        s0_ranges = ranges_of(walk, s0);
        const char* role = call.sources > 1 ? "src0" : "src";
        if (!check_operand(core, instr, call.src0.tensor, role, s0_ranges, 32)) return;
        check_overlap(core, instr, walk, dst, call.dst.tensor, s0, role,
                      chains(call.op, call.dst.tensor.dtype));
    }
    if (call.sources > 1) {
        s1_ranges = ranges_of(walk, s1);
        if (!check_operand(core, instr, call.src1.tensor, "src1", s1_ranges, 32)) return;
        check_overlap(core, instr, walk, dst, call.dst.tensor, s1, "src1",
                      chains(call.op, call.dst.tensor.dtype));
    }

    bool all = true;
    if (call.sources > 0)
        all &= use_operand(core, instr, call.src0.tensor, "src0", s0_ranges, false);
    if (call.sources > 1)
        all &= use_operand(core, instr, call.src1.tensor, "src1", s1_ranges, false);
    if (accumulates(call.op))
        all &= use_operand(core, instr, call.dst.tensor, "dst", dst_ranges, false);
    use_operand(core, instr, call.dst.tensor, "dst", dst_ranges, true);

    if (!execute_flat(core, call, walk, function)) execute(core, call, walk, function, dst, s0, s1);

    if (all || !core.launch.options.check_memory) {
        for (const Range& r : dst_ranges) core.ub_init.set(r.begin, r.end, true);
    } else {
        std::vector<const Layout*> sources;
        if (call.sources > 0) sources.push_back(&s0);
        if (call.sources > 1) sources.push_back(&s1);
        if (accumulates(call.op)) sources.push_back(&dst);
        propagate_init(core, walk, dst, sources);
    }
    core.charge(instr,
                vector_cycles(core, lane_weight(call.op, call.dst.tensor.dtype), walk.repeats),
                walk.repeats);
}

void load_ub(const UbTensor& t, uint64_t index, void* value, Loc loc) {
    Core& core = current_core("GetValue");
    const Instr instr = core.begin("GetValue", kS, loc);
    std::memcpy(value, &kPoison, t.element_size);
    const uint64_t begin = t.address + index * t.element_size, end = begin + t.element_size;
    if (!core.check_tensor(instr, t, "the tensor")) return;
    if (!core.check_bounds(instr, t, "the element", begin, end)) return;
    core.access_ub(instr, t, begin, end, false);
    if (core.launch.options.check_memory && !core.ub_init.all(begin, end))
        core.report_uninitialized(instr, t, "the scalar unit", begin, end);
    std::memcpy(value, core.ub.data() + begin, t.element_size);
    ++core.cost.pipe[kS].scalar_accesses;
    core.charge(instr, core.soc.cost.scalar_access);
}

void store_ub(const UbTensor& t, uint64_t index, const void* value, Loc loc) {
    Core& core = current_core("SetValue");
    const Instr instr = core.begin("SetValue", kS, loc);
    const uint64_t begin = t.address + index * t.element_size, end = begin + t.element_size;
    if (!core.check_tensor(instr, t, "the tensor")) return;
    if (!core.check_bounds(instr, t, "the element", begin, end)) return;
    core.access_ub(instr, t, begin, end, true);
    core.ub_init.set(begin, end, true);
    std::memcpy(core.ub.data() + begin, value, t.element_size);
    ++core.cost.pipe[kS].scalar_accesses;
    core.charge(instr, core.soc.cost.scalar_access);
}

}  // namespace ascendc_emulator::rt
