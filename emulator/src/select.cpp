// Select in its three modes.
#include <algorithm>
#include <cstring>

#include "vector_engine.h"

namespace ascendc_emulator {

namespace {

using AscendC::SELMODE;
using rt::VectorCall;

// The bits that choose between src0 (1) and src1 (0): in UB, or in the compare-mask register.
struct SelectBits {
    const Core& core;
    bool in_register;
    uint64_t address;
    uint64_t per_repeat;  // bits that a repeat consumes; 0: all repeats use the same

    bool value(uint64_t repeat, uint32_t lane) const {
        const uint64_t i = repeat * per_repeat + lane;
        const auto* bytes = in_register ? reinterpret_cast<const uint8_t*>(core.compare_mask)
                                        : core.ub.data() + address;
        return (bytes[i / 8] >> i % 8 & 1u) != 0;
    }
    bool written(uint64_t repeat, uint32_t lane) const {
        return in_register || core.ub_init.test(address + (repeat * per_repeat + lane) / 8);
    }
};

// Common part of the Select forms. `bits_written`: somebody wrote every bit.
void run_select(Core& core, const Instr& instr, const VectorCall& call, const Walk& walk,
                bool scalar, const SelectBits& bits, bool bits_written) {
    const UbTensor &dst_t = call.dst.tensor, &a = call.src0.tensor, &b = call.src1.tensor;
    const Layout dst = layout_of(call.dst, walk), s0 = layout_of(call.src0, walk),
                 s1 = layout_of(call.src1, walk);
    const auto to = ranges_of(walk, dst), r0 = ranges_of(walk, s0);
    const auto r1 = scalar ? std::vector<Range>() : ranges_of(walk, s1);
    if (!check_operand(core, instr, dst_t, "dst", to, 32)) return;
    if (!check_operand(core, instr, a, "src0", r0, 32)) return;
    if (!scalar && !check_operand(core, instr, b, "src1", r1, 32)) return;
    check_overlap(core, instr, walk, dst, dst_t, s0, "src0", false);
    if (!scalar) check_overlap(core, instr, walk, dst, dst_t, s1, "src1", false);
    bool all = use_operand(core, instr, a, "src0", r0, false) && bits_written;
    if (!scalar) all &= use_operand(core, instr, b, "src1", r1, false);
    use_operand(core, instr, dst_t, "dst", to, true);
    const uint32_t size = dst_t.element_size;
    alignas(64) uint8_t x[512] = {}, y[512] = {}, out[512] = {};
    for (uint64_t r = 0; r < walk.repeats; ++r) {
        load_lanes(core, walk, s0, r, x);
        if (!scalar) load_lanes(core, walk, s1, r, y);
        for (uint32_t lane = 0; lane < walk.lanes; ++lane) {
            if (!walk.mask_of(r).test(lane)) continue;
            const bool first = bits.value(r, lane);
            const uint8_t* other =
                scalar ? reinterpret_cast<const uint8_t*>(&call.scalar) : y + lane * size;
            std::memcpy(out + lane * size, first ? x + lane * size : other, size);
            if (all) continue;
            const Layout& chosen = first ? s0 : s1;
            const uint64_t from = chosen.address(r, lane), d = dst.address(r, lane);
            const bool written = (scalar && !first) || core.ub_init.all(from, from + size);
            core.ub_init.set(d, d + size, written && bits.written(r, lane));
        }
        store_lanes(core, walk, dst, r, out);
    }
    if (all)
        for (const Range& r : to) core.ub_init.set(r.begin, r.end, true);
    core.charge(instr, vector_cycles(core, 1, walk.repeats), walk.repeats);
}

}  // namespace
}  // namespace ascendc_emulator

namespace ascendc_emulator::rt {

void select(const VectorCall& call, const UbTensor& sel, SELMODE mode, bool scalar, Loc loc) {
    Core& core = current_core("Select");
    const Instr instr = core.begin("Select", kV, loc);
    const bool consecutive = mode != SELMODE::VSEL_CMPMASK_SPR;
    if (core.soc.arch == 100 && consecutive) {
        core.report(core.make("unsupported", instr, "only VSEL_CMPMASK_SPR exists on ascend910",
                              call.dst.tensor, static_cast<int64_t>(mode)));
        return;
    }
    if (scalar != (mode == SELMODE::VSEL_TENSOR_SCALAR_MODE)) {
        core.report(core.make("illegal-argument", instr,
                              scalar ? "a scalar src1 needs VSEL_TENSOR_SCALAR_MODE"
                                     : "VSEL_TENSOR_SCALAR_MODE needs a scalar src1",
                              call.dst.tensor, static_cast<int64_t>(mode)));
        return;
    }
    Walk walk;
    if (!plan(core, instr, call, call.dst.tensor.element_size, walk)) return;
    const uint64_t bits = consecutive ? walk.contiguous ? walk.elements : walk.repeats * walk.lanes
                                      : std::min<uint64_t>(walk.lanes, walk.elements);
    const std::vector<Range> mask_range{{sel.address, sel.address + (bits + 7) / 8}};
    if (!check_operand(core, instr, sel, "selMask", mask_range, 32)) return;
    const bool written = use_operand(core, instr, sel, "selMask", mask_range, false);
    if (consecutive) core.use_reserved_ub(instr);
    if (!consecutive && walk.repeats > 1)
        core.note("select-mask-reused", instr,
                  "VSEL_CMPMASK_SPR applies the first repeat's bits to every repeat");
    const SelectBits source{core, false, sel.address, consecutive ? walk.lanes : 0};
    run_select(core, instr, call, walk, scalar, source, written);
}

void select_by_register(const VectorCall& call, Loc loc) {
    Core& core = current_core("Select");
    const Instr instr = core.begin("Select", kV, loc);
    Walk walk;
    if (!plan(core, instr, call, call.dst.tensor.element_size, walk)) return;
    if (!core.compare_mask_set && core.launch.options.check_memory)
        core.report(core.make("uninitialized-read", instr,
                              "the compare-mask register was never set (Compare, SetCmpMask)",
                              call.dst.tensor));
    run_select(core, instr, call, walk, false, {core, true, 0, 0}, true);
}

}  // namespace ascendc_emulator::rt
