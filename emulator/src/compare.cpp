// Compare, CompareScalar, Select and the compare-mask register.
#include <algorithm>
#include <cstring>

#include "vector_engine.h"

namespace ascendc_emulator {
namespace {

using AscendC::CMPMODE;
using AscendC::SELMODE;

double as_double(DType dtype, const uint8_t* p) {
    if (dtype == DType::f32) {
        float v;
        std::memcpy(&v, p, 4);
        return v;
    }
    if (dtype == DType::f16) {
        uint16_t bits;
        std::memcpy(&bits, p, 2);
        return half_bits_to_float(bits);
    }
    int32_t v;
    std::memcpy(&v, p, 4);
    return v;
}

bool compare_values(double a, double b, CMPMODE mode) {
    switch (mode) {
        case CMPMODE::LT:
            return a < b;
        case CMPMODE::GT:
            return a > b;
        case CMPMODE::EQ:
            return a == b;
        case CMPMODE::LE:
            return a <= b;
        case CMPMODE::GE:
            return a >= b;
        default:
            return a != b;
    }
}

// The 256-byte rule: whole repeats only; a remainder is not computed.
bool check_whole_repeats(Core& core, const Instr& instr, const rt::VectorCall& call, Walk& walk) {
    const uint32_t element = call.src0.tensor.element_size;
    const uint64_t bytes = walk.elements * element;
    if (!call.counted || bytes % 256 == 0) return true;
    const uint64_t covered = bytes / 256 * 256 / element;
    if (core.launch.options.check_operands) {
        const UbTensor& t = call.src0.tensor;
        Report r =
            core.make("uncovered-length", instr,
                      "count " + std::to_string(walk.elements) + " is " + std::to_string(bytes) +
                          " bytes, not a multiple of 256: elements from " +
                          std::to_string(covered) + " on are not compared",
                      t, static_cast<int64_t>(covered));
        r.end = r.begin + bytes;
        core.report(std::move(r));
    }
    if (covered == 0) return false;
    walk.elements = covered;
    walk.repeats = covered / walk.lanes;
    walk.last_mask = walk.mask;
    return true;
}

}  // namespace
}  // namespace ascendc_emulator

namespace ascendc_emulator::rt {

void compare(const VectorCall& call, CMPMODE mode, bool scalar, bool to_register, Loc loc) {
    Core& core = current_core(call.name);
    const Instr instr = core.begin(call.name, kV, loc);
    const UbTensor &dst = call.dst.tensor, &a = call.src0.tensor, &b = call.src1.tensor;
    const DType dtype = a.dtype;
    if (dtype == DType::i32 && mode != CMPMODE::EQ) {
        core.report(core.make("unsupported", instr, "int32_t compares with CMPMODE::EQ only", a,
                              static_cast<int64_t>(mode)));
        return;
    }
    Walk walk;
    VectorCall planned = call;
    if (!call.counted) planned.mask = {Mask::kCount, 256u / a.element_size, 0};  // mask is ignored
    if (!plan(core, instr, planned, a.element_size, walk)) return;
    if (!check_whole_repeats(core, instr, call, walk)) return;
    const Layout s0 = layout_of(call.src0, walk), s1 = layout_of(call.src1, walk);
    const auto r0 = ranges_of(walk, s0);
    const auto r1 = scalar ? std::vector<Range>() : ranges_of(walk, s1);
    const std::vector<Range> to{{dst.address, dst.address + walk.repeats * walk.lanes / 8}};
    if (!check_operand(core, instr, a, "src0", r0, 32)) return;
    if (!scalar && !check_operand(core, instr, b, "src1", r1, 32)) return;
    if (!to_register && !check_operand(core, instr, dst, "dst", to, 32)) return;
    use_operand(core, instr, a, "src0", r0, false);
    if (!scalar) use_operand(core, instr, b, "src1", r1, false);
    if (!to_register) use_operand(core, instr, dst, "dst", to, true);
    alignas(64) uint8_t x[512] = {}, y[512] = {};
    const double constant =
        scalar ? as_double(dtype, reinterpret_cast<const uint8_t*>(&call.scalar)) : 0;
    for (uint64_t r = 0; r < walk.repeats; ++r) {
        load_lanes(core, walk, s0, r, x);
        if (!scalar) load_lanes(core, walk, s1, r, y);
        for (uint32_t lane = 0; lane < walk.lanes; ++lane) {
            const size_t at = size_t(lane) * a.element_size;
            const double right = scalar ? constant : as_double(dtype, y + at);
            const bool bit = compare_values(as_double(dtype, x + at), right, mode);
            uint8_t* out = to_register ? reinterpret_cast<uint8_t*>(core.compare_mask)
                                       : core.ub.data() + dst.address + r * walk.lanes / 8;
            out[lane / 8] = static_cast<uint8_t>((out[lane / 8] & ~(1u << lane % 8)) |
                                                 (unsigned(bit) << lane % 8));
        }
    }
    if (!to_register) core.ub_init.set(to[0].begin, to[0].end, true);
    core.compare_mask_set |= to_register;
    core.charge(instr, vector_cycles(core, 1, walk.repeats), walk.repeats);
}

void move_compare_mask(const UbTensor& t, bool to_register, Loc loc) {
    Core& core = current_core("SetCmpMask");
    const Instr instr = core.begin(to_register ? "SetCmpMask" : "GetCmpMask", kV, loc);
    const std::vector<Range> range{{t.address, t.address + 16}};
    if (!check_operand(core, instr, t, "the mask tensor", range, 16)) return;
    use_operand(core, instr, t, "the mask tensor", range, !to_register);
    uint8_t* place = core.ub.data() + t.address;
    if (to_register) {
        std::memcpy(core.compare_mask, place, 16);
        core.compare_mask_set = true;
    } else {
        std::memcpy(place, core.compare_mask, 16);
        core.ub_init.set(range[0].begin, range[0].end, true);
    }
    core.charge(instr, vector_cycles(core, 1, 1), 1);
}

}  // namespace ascendc_emulator::rt
