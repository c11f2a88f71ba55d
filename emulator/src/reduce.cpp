// Reductions in the documented order: a tree over neighbours inside a repeat or block.
#include <algorithm>
#include <cstring>
#include <limits>

#include "vector_engine.h"

namespace ascendc_emulator {
namespace {

using AscendC::ReduceOrder;
using rt::Reduce;
using rt::ReduceAll;

enum class Kind { sum, max, min };

struct Lane {
    float value;
    uint32_t index;
    bool active;
};

float read_lane(DType dtype, const uint8_t* p) {
    if (dtype == DType::f16) {
        uint16_t bits;
        std::memcpy(&bits, p, 2);
        return half_bits_to_float(bits);
    }
    float v;
    std::memcpy(&v, p, 4);
    return v;
}

void write_value(DType dtype, uint8_t* p, float v) {
    if (dtype == DType::f16) {
        const uint16_t bits = float_to_half_bits(v);
        std::memcpy(p, &bits, 2);
    } else {
        std::memcpy(p, &v, 4);
    }
}

// Indices are stored as raw integers of the element's width.
void write_index(uint32_t size, uint8_t* p, uint32_t index) {
    std::memcpy(p, &index, size);
}

float rounded(DType dtype, float v) {
    return dtype == DType::f16 ? float(half(v)) : v;
}

// ((a0 op a1) op (a2 op a3)) ...; inactive lanes are the identity; equal extremes keep the lower
// index.
Lane tree(DType dtype, Kind kind, std::vector<Lane>& lanes) {
    const auto combine = [&](const Lane& a, const Lane& b) -> Lane {
        if (!a.active) return b;
        if (!b.active) return a;
        if (kind == Kind::sum) return {rounded(dtype, a.value + b.value), 0, true};
        const bool second = kind == Kind::max ? b.value > a.value : b.value < a.value;
        return second ? b : a;
    };
    size_t n = lanes.size();
    while (n > 1) {
        for (size_t i = 0; i < n / 2; ++i) lanes[i] = combine(lanes[2 * i], lanes[2 * i + 1]);
        if (n % 2 != 0) lanes[n / 2] = lanes[n - 1];
        n = (n + 1) / 2;
    }
    return lanes[0];
}

std::vector<Lane> lanes_of(const Core& core, const Walk& walk, const Layout& src, DType dtype,
                           uint64_t repeat, uint32_t first, uint32_t count) {
    std::vector<Lane> lanes(count);
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t lane = first + i;
        const bool active = walk.mask_of(repeat).test(lane);
        lanes[i] = {active ? read_lane(dtype, core.ub.data() + src.address(repeat, lane)) : 0.0f,
                    lane, active};
    }
    return lanes;
}

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

// A reduction mixes all its lanes: one that nobody wrote spoils the result.
bool check_reduced(Core& core, const Instr& instr, const UbTensor& t, const char* role,
                   const std::vector<Range>& ranges) {
    if (use_operand(core, instr, t, role, ranges, false)) return true;
    for (const Range& r : ranges)
        if (!core.ub_init.all(r.begin, r.end))
            core.report_uninitialized(instr, t, role, r.begin, r.end);
    return false;
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

bool check_order(Core& core, const Instr& instr, Reduce kind, ReduceOrder order) {
    if (kind != Reduce::whole_max && kind != Reduce::whole_min) return true;
    const bool ok = core.soc.arch == 220 || order == ReduceOrder::ORDER_VALUE_INDEX ||
                    (core.soc.arch == 200 && order == ReduceOrder::ORDER_INDEX_VALUE);
    if (!ok) {
        Report r = core.make("unsupported", instr,
                             "this ReduceOrder does not exist on " + std::string(core.soc.name));
        r.index = static_cast<int64_t>(order);
        core.report(std::move(r));
    }
    return ok;
}

// Writes one result and marks it.
struct Writer {
    Core& core;
    DType dtype;
    uint32_t element;
    void value(uint64_t at, float v) const {
        write_value(dtype, core.ub.data() + at, v);
        core.ub_init.set(at, at + element, true);
    }
    void index(uint64_t at, uint32_t size, uint32_t i) const {
        write_index(size, core.ub.data() + at, i);
        core.ub_init.set(at, at + size, true);
    }
    void extreme(uint64_t at, const Lane& lane, ReduceOrder order) const {
        switch (order) {
            case ReduceOrder::ORDER_VALUE_INDEX:
                value(at, lane.value);
                return index(at + element, element, lane.index);
            case ReduceOrder::ORDER_INDEX_VALUE:
                index(at, element, lane.index);
                return value(at + element, lane.value);
            case ReduceOrder::ORDER_ONLY_VALUE:
                return value(at, lane.value);
            case ReduceOrder::ORDER_ONLY_INDEX:
                return index(at, 4, lane.index);
        }
    }
};

}  // namespace
}  // namespace ascendc_emulator

namespace ascendc_emulator::rt {

void reduce_repeats(const VectorCall& call, Reduce kind, ReduceOrder order, Loc loc) {
    Core& core = current_core(call.name);
    const Instr instr = core.begin(call.name, kV, loc);
    const UbTensor &dst = call.dst.tensor, &src = call.src0.tensor;
    if (!check_order(core, instr, kind, order)) return;
    if (core.soc.arch == 100 && dst.dtype == DType::f32)
        core.note("reduce-float-910", instr,
                  "float reductions are documented for half only on ascend910");
    Walk walk;
    if (!plan(core, instr, call, src.element_size, walk)) return;
    if (core.soc.arch == 100 && call.dst.repeat_stride == 0 && walk.repeats > 1) {
        core.report(
            core.make("illegal-stride", instr, "dstRepStride 0 is not allowed on ascend910"));
        return;
    }
    const Layout s = layout_of(call.src0, walk);
    const auto from = ranges_of(walk, s);
    const Output out = output_of(kind, order, dst.element_size, walk.lanes);
    const auto place = [&](uint64_t repeat, uint32_t group) {
        return dst.address + repeat * call.dst.repeat_stride * out.unit +
               uint64_t(group) * (out.groups == 1 ? 0 : dst.element_size);
    };
    // A group without an active lane is not written.
    std::vector<Range> to;
    for (uint64_t r = 0; r < walk.repeats; ++r)
        for (uint32_t g = 0; g < out.groups; ++g) {
            bool active = false;
            for (uint32_t i = 0; i < out.lanes; ++i)
                active = active || walk.mask_of(r).test(g * out.lanes + i);
            const uint64_t at = place(r, g);
            const uint32_t size = out.groups == 1 ? out.bytes : dst.element_size;
            if (!active) continue;
            if (!to.empty() && to.back().end == at)
                to.back().end += size;
            else
                to.push_back({at, at + size});
        }
    if (!check_operand(core, instr, src, "src", from, 32)) return;
    if (!check_operand(core, instr, dst, "dst", to, out.alignment)) return;
    check_reduced(core, instr, src, "src", from);
    use_operand(core, instr, dst, "dst", to, true);
    const Writer write{core, dst.dtype, dst.element_size};
    for (uint64_t r = 0; r < walk.repeats; ++r) {
        for (uint32_t g = 0; g < out.groups; ++g) {
            auto lanes = lanes_of(core, walk, s, src.dtype, r, g * out.lanes, out.lanes);
            const Lane result = tree(src.dtype, kind_of(kind), lanes);
            if (!result.active) continue;
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

void reduce_all(const VectorCall& call, ReduceAll what, bool with_index, Loc loc) {
    Core& core = current_core(call.name);
    const Instr instr = core.begin(call.name, kV, loc);
    const UbTensor &dst = call.dst.tensor, &src = call.src0.tensor, &work = call.src1.tensor;
    const Kind kind = what == ReduceAll::sum   ? Kind::sum
                      : what == ReduceAll::max ? Kind::max
                                               : Kind::min;
    VectorCall planned = call;
    // This form loops over repeats itself, so their number may exceed 255.
    const uint64_t repeats =
        call.counted ? 0 : static_cast<uint64_t>(std::max<int64_t>(call.repeat, 0));
    if (!call.counted && repeats > 255) planned.repeat = 1;
    Walk walk;
    if (!plan(core, instr, planned, src.element_size, walk)) return;
    if (!call.counted && repeats > 255) {
        walk.elements = walk.elements * repeats;
        walk.repeats = repeats;
    }
    const Layout s = layout_of(call.src0, walk);
    const auto from = ranges_of(walk, s);
    const uint32_t size = dst.element_size;
    const std::vector<Range> to{{dst.address, dst.address + size * (with_index ? 2u : 1u)}};
    if (!check_operand(core, instr, src, "src", from, 32)) return;
    if (!check_operand(core, instr, dst, "dst", to, with_index ? 2 * size : size)) return;
    const bool hardware_sum = kind == Kind::sum && call.counted && core.soc.arch == 220;
    const bool needs_work =
        !hardware_sum && (core.soc.arch != 220 || kind != Kind::sum || !call.counted);
    if (needs_work) {
        const uint64_t per_block = 32 / size;
        const uint64_t n = std::max<uint64_t>(walk.repeats, 1);
        const uint64_t results = kind == Kind::sum ? n : 2 * n;
        const uint64_t bytes = (results + per_block - 1) / per_block * 32;
        const std::vector<Range> scratch{{work.address, work.address + bytes}};
        if (!check_operand(core, instr, work, "work", scratch, 32)) return;
        check_reduced(core, instr, src, "src", from);
        use_operand(core, instr, work, "work", scratch, true);
        core.ub_init.set(scratch[0].begin, scratch[0].end, true);
    } else {
        check_reduced(core, instr, src, "src", from);
    }

    std::vector<Lane> partial;
    for (uint64_t r = 0; r < walk.repeats; ++r) {
        auto lanes = lanes_of(core, walk, s, src.dtype, r, 0, walk.lanes);
        Lane result = tree(src.dtype, kind, lanes);
        if (!result.active) continue;
        // Positions count elements of the whole operand.
        result.index += static_cast<uint32_t>(r * s.repeat_bytes / size);
        partial.push_back(result);
    }
    if (partial.empty()) return;
    Lane total = partial[0];
    if (hardware_sum) {
        // The accumulator adds the repeats one after the other.
        for (size_t i = 1; i < partial.size(); ++i)
            total.value = rounded(dst.dtype, total.value + partial[i].value);
    } else {
        // Repeats' results are reduced like data, a repeat's worth at a time.
        while (partial.size() > 1) {
            std::vector<Lane> next;
            for (size_t i = 0; i < partial.size(); i += walk.lanes) {
                std::vector<Lane> group(partial.begin() + static_cast<int64_t>(i),
                                        partial.begin() + static_cast<int64_t>(std::min<size_t>(
                                                              i + walk.lanes, partial.size())));
                group.resize(walk.lanes, Lane{0, 0, false});
                next.push_back(tree(src.dtype, kind, group));
            }
            partial = std::move(next);
        }
        total = partial[0];
    }
    const Writer write{core, dst.dtype, size};
    uint64_t bits = 0;
    write_value(dst.dtype, reinterpret_cast<uint8_t*>(&bits), total.value);
    if (kind == Kind::sum) core.acc_value = bits;
    core.charge(instr, vector_cycles(core, 4, walk.repeats), walk.repeats);
    if (core.soc.arch == 220 && call.counted) {
        // The result goes through the scalar unit, with the waits that this takes: V -> S -> V.
        core.take_flag(kS, core.make_flag(kV, loc));
        const Instr store = core.begin(call.name, kS, loc);
        use_operand(core, store, dst, "dst", to, true);
        core.take_flag(kV, core.make_flag(kS, loc));
    } else {
        use_operand(core, instr, dst, "dst", to, true);
    }
    write.value(dst.address, total.value);
    if (with_index) write.index(dst.address + size, size, total.index);
    core.extreme_value = bits;
    core.extreme_index = total.index;
}

void last_reduce_result(uint64_t* value_bits, uint64_t* index_bits, bool sum, Loc loc) {
    Core& core = current_core("GetAccVal");
    core.begin(sum ? "GetAccVal" : "GetReduceMaxMinCount", kS, loc);
    *value_bits = sum ? core.acc_value : core.extreme_value;
    *index_bits = core.extreme_index;
}

}  // namespace ascendc_emulator::rt
