// Indirect and selective moves: Gather, Gatherb, Scatter, GatherMask.
#include <algorithm>
#include <cstring>

#include "vector_engine.h"

namespace ascendc_emulator::rt {

namespace {

uint32_t read_offset(const Core& core, uint64_t at) {
    uint32_t v;
    std::memcpy(&v, core.ub.data() + at, 4);
    return v;
}

// Element-wise indirect access; `gathers` reads src at offsets, else writes dst at offsets.
void indirect(const VectorCall& call, const UbTensor& offsets, uint32_t base, bool gathers,
              Loc loc) {
    Core& core = current_core(call.name);
    const Instr instr = core.begin(call.name, kV, loc);
    const UbTensor &dst = call.dst.tensor, &src = call.src0.tensor;
    const uint32_t size = dst.element_size;
    Walk walk;
    if (!plan(core, instr, call, size, walk)) return;
    Operand offset_operand;
    offset_operand.tensor = offsets;
    offset_operand.repeat_stride = walk.lanes * 4 / 32;
    const Layout straight = layout_of(gathers ? call.dst : call.src0, walk);
    Layout index = layout_of(offset_operand, walk);
    index.block_bytes = 32;
    index.repeat_bytes = uint64_t(walk.lanes) * 4;
    const UbTensor& straight_tensor = gathers ? dst : src;
    const UbTensor& far_tensor = gathers ? src : dst;
    const char* far_role = gathers ? "src" : "dst";
    const auto near_ranges = ranges_of(walk, straight), index_ranges = ranges_of(walk, index);
    if (!check_operand(core, instr, straight_tensor, gathers ? "dst" : "src", near_ranges, 32))
        return;
    if (!check_operand(core, instr, offsets, "the offset tensor", index_ranges, 32)) return;
    if (!core.check_tensor(instr, far_tensor, far_role)) return;
    if (!use_operand(core, instr, offsets, "the offset tensor", index_ranges, false))
        for (const Range& r : index_ranges)
            core.report_uninitialized(instr, offsets, "the offset tensor", r.begin, r.end);
    std::vector<Range> far, near;  // of each active element
    for (uint64_t r = 0; r < walk.repeats; ++r)
        for (uint32_t lane = 0; lane < walk.lanes; ++lane) {
            if (!walk.mask_of(r).test(lane)) continue;
            const uint32_t offset = read_offset(core, index.address(r, lane));
            const uint64_t at = uint64_t(far_tensor.address) + base + offset;
            if (offset % size != 0) {
                const uint64_t i = r * walk.lanes + lane;
                core.report(core.make("misaligned", instr,
                                      "offset " + std::to_string(offset) + " of element " +
                                          std::to_string(i) +
                                          " is not a multiple of the element size",
                                      offsets, static_cast<int64_t>(i)));
                return;
            }
            if (!core.check_bounds(instr, far_tensor, far_role, at, at + size)) return;
            far.push_back({at, at + size});
            near.push_back({straight.address(r, lane), straight.address(r, lane) + size});
        }
    const std::vector<Range>&to = gathers ? near : far, &from = gathers ? far : near;
    check_apart(core, instr, dst, to, from, "src");
    check_apart(core, instr, dst, to, index_ranges, "the offset tensor");
    use_operand(core, instr, straight_tensor, gathers ? "dst" : "src", near_ranges, gathers);
    for (size_t i = 0; i < to.size(); ++i) {
        core.access_ub(instr, far_tensor, far[i].begin, far[i].end, !gathers);
        copy_element(core, to[i].begin, from[i].begin, size);
    }
    core.charge(instr, vector_cycles(core, static_cast<double>(walk.lanes), walk.repeats),
                walk.repeats);
}

}  // namespace

void gather(const VectorCall& call, const UbTensor& offsets, uint32_t base, Loc loc) {
    indirect(call, offsets, base, true, loc);
}
void scatter(const VectorCall& call, const UbTensor& offsets, uint32_t base, Loc loc) {
    indirect(call, offsets, base, false, loc);
}

void gather_blocks(const UbTensor& dst, const UbTensor& src, const UbTensor& offsets, int repeat,
                   int dst_blk, int dst_rep, Loc loc) {
    Core& core = current_core("Gatherb");
    const Instr instr = core.begin("Gatherb", kV, loc);
    if (repeat == 0) return;
    const uint64_t n = uint64_t(repeat) * 8;
    const std::vector<Range> index{{offsets.address, offsets.address + n * 4}};
    if (!check_operand(core, instr, offsets, "the offset tensor", index, 32)) return;
    if (!core.check_tensor(instr, src, "src")) return;
    use_operand(core, instr, offsets, "the offset tensor", index, false);
    std::vector<Range> to, from;
    for (uint64_t i = 0; i < n; ++i) {
        const uint64_t d =
            dst.address +
            (i / 8 * static_cast<uint64_t>(dst_rep) + i % 8 * static_cast<uint64_t>(dst_blk)) * 32;
        const uint32_t offset = read_offset(core, offsets.address + i * 4);
        const uint64_t s = uint64_t(src.address) + offset;
        if (offset % 32 != 0) {
            core.report(core.make(
                "misaligned", instr,
                "block offset " + std::to_string(offset) + " is not a multiple of 32 bytes",
                offsets, static_cast<int64_t>(i)));
            return;
        }
        to.push_back({d, d + 32});
        from.push_back({s, s + 32});
        if (!check_operand(core, instr, dst, "dst", {to.back()}, 32)) return;
        if (!core.check_bounds(instr, src, "src", s, s + 32)) return;
    }
    check_apart(core, instr, dst, to, from, "src");
    check_apart(core, instr, dst, to, index, "the offset tensor");
    for (uint64_t i = 0; i < n; ++i) {
        core.access_ub(instr, src, from[i].begin, from[i].end, false);
        core.access_ub(instr, dst, to[i].begin, to[i].end, true);
        for (uint64_t b = 0; b < 32; ++b) copy_element(core, to[i].begin + b, from[i].begin + b, 1);
    }
    core.charge(instr, vector_cycles(core, 8, static_cast<uint64_t>(repeat)),
                static_cast<uint64_t>(repeat));
}

uint64_t gather_mask(const GatherMaskCall& call, Loc loc) {
    Core& core = current_core("GatherMask");
    const Instr instr = core.begin("GatherMask", kV, loc);
    core.gather_count = 0;  // of a call that is refused, too
    const uint32_t size = call.src.element_size, lanes = 256 / size;
    const uint8_t last_pattern = core.soc.arch == 220 ? 7 : 6;
    if (!call.use_pattern_tensor && (call.pattern == 0 || call.pattern > last_pattern)) {
        core.report(core.make("illegal-argument", instr,
                              "pattern " + std::to_string(call.pattern) + " is outside 1.." +
                                  std::to_string(last_pattern) + " on " + core.soc.name,
                              call.src, call.pattern));
        return 0;
    }
    // reduceMode: `mask` elements of every repeat; else whole repeats.
    VectorCall shape;
    shape.repeat = static_cast<int64_t>(std::min<uint32_t>(call.repeat, 255));
    shape.mask = {Mask::kCount, lanes, 0};
    shape.src0.tensor = call.src;
    shape.src0.block_stride = call.src0_blk;
    shape.src0.repeat_stride = call.src0_rep;
    const uint32_t used = call.reduce_mode ? call.mask : lanes;
    if (call.repeat == 0 || used == 0) return 0;
    Walk walk;
    walk.lanes = lanes;
    walk.repeats = call.repeat;
    walk.mask = walk.last_mask = LaneMask::first(std::min(used, lanes));
    const Layout src = layout_of(shape.src0, walk);
    // In counter mode `mask` may exceed a repeat: elements run on through the repeats' rows.
    const auto element_at = [&](uint64_t r, uint32_t i) {
        return src.address(r, 0) + uint64_t(i) * size / 32 * src.block_bytes +
               uint64_t(i) * size % 32;
    };
    std::vector<Range> from;
    for (uint64_t r = 0; r < walk.repeats; ++r)
        for (uint32_t i = 0; i < used; i += 32 / size) {
            const uint64_t at = element_at(r, i);
            const uint32_t n = std::min(32 / size, used - i);
            from.push_back({at, at + uint64_t(n) * size});
        }
    if (!check_operand(core, instr, call.src, "src0", from, 32)) return 0;
    use_operand(core, instr, call.src, "src0", from, false);
    std::vector<Range> bits;
    if (call.use_pattern_tensor) {
        const uint64_t bytes = (walk.repeats - 1) * call.src1_rep * 32 + (used + 7) / 8;
        bits.push_back({call.pattern_tensor.address, call.pattern_tensor.address + bytes});
        if (!check_operand(core, instr, call.pattern_tensor, "the pattern", bits, 32)) return 0;
        use_operand(core, instr, call.pattern_tensor, "the pattern", bits, false);
    }
    const auto selected = [&](uint64_t r, uint32_t i) {
        if (call.use_pattern_tensor) {
            const uint64_t at = call.pattern_tensor.address + r * call.src1_rep * 32 + i / 8;
            return (core.ub[at] >> (i % 8) & 1u) != 0;
        }
        switch (call.pattern) {
            case 1:
                return i % 2 == 0;
            case 2:
                return i % 2 == 1;
            case 7:
                return true;
            default:
                return i % 4 == call.pattern - 3u;
        }
    };
    std::vector<uint64_t> picks;
    for (uint64_t r = 0; r < walk.repeats; ++r)
        for (uint32_t i = 0; i < used; ++i)
            if (selected(r, i)) picks.push_back(element_at(r, i));
    const std::vector<Range> to{{call.dst.address, call.dst.address + picks.size() * size}};
    if (!picks.empty()) {
        if (!check_operand(core, instr, call.dst, "dst", to, 32)) return 0;
        use_operand(core, instr, call.dst, "dst", to, true);
        check_apart(core, instr, call.dst, to, bits, "the pattern");
    }
    WrittenBytes written(core, to[0], hull(from));
    bool clean = true;
    for (size_t i = 0; i < picks.size(); ++i) {
        const uint64_t at = call.dst.address + i * size;
        clean = clean && written.allow(core, instr, call.dst, {picks[i], picks[i] + size}, "src0",
                                       "element", i);
        copy_element(core, at, picks[i], size);
        written.add({at, at + size});
    }
    const uint64_t rows = walk.repeats * ((used + lanes - 1) / lanes);
    core.charge(instr, vector_cycles(core, 2, rows), rows);
    return core.gather_count = picks.size();
}

uint64_t last_gather_mask_count() {
    return current_core("GetGatherMaskRemainCount").gather_count;
}

}  // namespace ascendc_emulator::rt
