// ReduceSum, ReduceMax, ReduceMin: everything to one value.
#include <algorithm>

#include "reduce_lanes.h"

namespace ascendc_emulator::rt {

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
    if (!hardware_sum) {
        const uint64_t per_block = 32 / size;
        const uint64_t n = std::max<uint64_t>(walk.repeats, 1);
        const uint64_t results = kind == Kind::sum ? n : 2 * n;
        const uint64_t bytes = (results + per_block - 1) / per_block * 32;
        const std::vector<Range> scratch{{work.address, work.address + bytes}};
        if (!check_operand(core, instr, work, "work", scratch, 32)) return;
        check_reduced(core, instr, src, "src", from);
        use_operand(core, instr, work, "work", scratch, true);
        core.ub_init.set(scratch[0].begin, scratch[0].end, false);
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
