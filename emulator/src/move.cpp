// Rearranging UB: Brcb, Gather, Scatter, GatherMask, transposes, Broadcast, CreateVecIndex.
#include <algorithm>
#include <cstring>

#include "vector_engine.h"

namespace ascendc_emulator {
namespace {

void copy_element(Core& core, uint64_t to, uint64_t from, uint32_t size) {
    std::memmove(core.ub.data() + to, core.ub.data() + from, size);
    core.ub_init.set(to, to + size, core.ub_init.all(from, from + size));
}

bool overlap(const Range& a, const Range& b) {
    return a.begin < b.end && b.begin < a.end;
}

void check_disjoint(Core& core, const Instr& instr, const UbTensor& dst, const Range& to,
                    const Range& from, const char* role) {
    if (!core.launch.options.check_operands || !overlap(to, from)) return;
    Report r = core.make("illegal-overlap", instr, std::string("dst and ") + role + " overlap");
    r.tensor = core.describe(dst);
    const uint32_t base = core.buffers[dst.buffer].begin;
    r.begin = to.begin - base;
    r.end = to.end - base;
    core.report(std::move(r));
}

Range hull(const std::vector<Range>& ranges) {
    Range h{~uint64_t(0), 0};
    for (const Range& r : ranges) h = {std::min(h.begin, r.begin), std::max(h.end, r.end)};
    return h;
}

uint32_t read_offset(const Core& core, uint64_t at) {
    uint32_t v;
    std::memcpy(&v, core.ub.data() + at, 4);
    return v;
}

}  // namespace
}  // namespace ascendc_emulator

namespace ascendc_emulator::rt {

void create_index(const VectorCall& call, Loc loc) {
    Core& core = current_core("CreateVecIndex");
    const Instr instr = core.begin("CreateVecIndex", kV, loc);
    const UbTensor& dst = call.dst.tensor;
    Walk walk;
    if (!plan(core, instr, call, dst.element_size, walk)) return;
    const Layout l = layout_of(call.dst, walk);
    const auto to = ranges_of(walk, l);
    if (!check_operand(core, instr, dst, "dst", to, 32)) return;
    use_operand(core, instr, dst, "dst", to, true);
    for (uint64_t r = 0; r < walk.repeats; ++r) {
        for (uint32_t lane = 0; lane < walk.lanes; ++lane) {
            if (!walk.mask_of(r).test(lane)) continue;
            const uint64_t at = l.address(r, lane), n = r * walk.lanes + lane;
            uint8_t* place = core.ub.data() + at;
            uint64_t bits = call.scalar;
            if (dst.dtype == DType::f32) {
                float v = float_from_bits(static_cast<uint32_t>(bits)) + static_cast<float>(n);
                std::memcpy(place, &v, 4);
            } else if (dst.dtype == DType::f16) {
                const half v(half_bits_to_float(static_cast<uint16_t>(bits)) +
                             static_cast<float>(n));
                std::memcpy(place, &v, 2);
            } else {
                bits += n;
                std::memcpy(place, &bits, dst.element_size);
            }
        }
    }
    for (const Range& r : to) core.ub_init.set(r.begin, r.end, true);
    core.charge(instr, vector_cycles(core, 1, walk.repeats), walk.repeats);
}

void brcb(const UbTensor& dst, const UbTensor& src, int repeat, int dst_blk, int dst_rep, Loc loc) {
    Core& core = current_core("Brcb");
    const Instr instr = core.begin("Brcb", kV, loc);
    if (repeat == 0) return;
    if (dst_blk == 0) {
        Report r = core.make("illegal-stride", instr, "dstBlkStride 0 is undefined");
        r.index = 0;
        core.report(std::move(r));
        return;
    }
    const uint32_t size = dst.element_size;
    std::vector<Range> to;
    for (int r = 0; r < repeat; ++r)
        for (int b = 0; b < 8; ++b) {
            const uint64_t at = dst.address + uint64_t(r * dst_rep + b * dst_blk) * 32;
            to.push_back({at, at + 32});
        }
    const std::vector<Range> from{{src.address, src.address + uint64_t(repeat) * 8 * size}};
    if (!check_operand(core, instr, dst, "dst", to, 32)) return;
    if (!check_operand(core, instr, src, "src", from, 32)) return;
    check_disjoint(core, instr, dst, hull(to), from[0], "src");
    use_operand(core, instr, src, "src", from, false);
    use_operand(core, instr, dst, "dst", to, true);
    if (core.soc.arch == 200) use_reserved_ub(core, instr);
    for (size_t i = 0; i < to.size(); ++i)
        for (uint64_t at = to[i].begin; at < to[i].end; at += size)
            copy_element(core, at, src.address + i * size, size);
    const auto repeats = static_cast<uint64_t>(repeat);
    core.charge(instr, vector_cycles(core, 1, repeats), repeats);
}

namespace {

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
    use_operand(core, instr, straight_tensor, gathers ? "dst" : "src", near_ranges, gathers);
    for (uint64_t r = 0; r < walk.repeats; ++r)
        for (uint32_t lane = 0; lane < walk.lanes; ++lane) {
            if (!walk.mask_of(r).test(lane)) continue;
            const uint32_t offset = read_offset(core, index.address(r, lane));
            const uint64_t at = uint64_t(far_tensor.address) + base + offset;
            if (offset % size != 0) {
                Report report = core.make("misaligned", instr,
                                          "offset " + std::to_string(offset) + " of element " +
                                              std::to_string(r * walk.lanes + lane) +
                                              " is not a multiple of the element size");
                report.tensor = core.describe(offsets);
                report.index = static_cast<int64_t>(r * walk.lanes + lane);
                core.report(std::move(report));
                return;
            }
            if (!core.check_bounds(instr, far_tensor, far_role, at, at + size)) return;
            core.access_ub(instr, far_tensor, at, at + size, !gathers);
            const uint64_t near_at = straight.address(r, lane);
            copy_element(core, gathers ? near_at : at, gathers ? at : near_at, size);
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
    for (uint64_t i = 0; i < n; ++i) {
        const uint64_t to =
            dst.address +
            (i / 8 * static_cast<uint64_t>(dst_rep) + i % 8 * static_cast<uint64_t>(dst_blk)) * 32;
        const uint32_t offset = read_offset(core, offsets.address + i * 4);
        const uint64_t from = uint64_t(src.address) + offset;
        if (offset % 32 != 0) {
            Report r =
                core.make("misaligned", instr, "a block offset is not a multiple of 32 bytes");
            r.index = static_cast<int64_t>(i);
            core.report(std::move(r));
            return;
        }
        const std::vector<Range> d{{to, to + 32}}, s{{from, from + 32}};
        if (!check_operand(core, instr, dst, "dst", d, 32)) return;
        if (!core.check_bounds(instr, src, "src", from, from + 32)) return;
        core.access_ub(instr, src, from, from + 32, false);
        core.access_ub(instr, dst, to, to + 32, true);
        for (uint64_t b = 0; b < 32; ++b) copy_element(core, to + b, from + b, 1);
    }
    core.charge(instr, vector_cycles(core, 8, static_cast<uint64_t>(repeat)),
                static_cast<uint64_t>(repeat));
}

uint64_t gather_mask(const GatherMaskCall& call, Loc loc) {
    Core& core = current_core("GatherMask");
    const Instr instr = core.begin("GatherMask", kV, loc);
    const uint32_t size = call.src.element_size, lanes = 256 / size;
    const uint8_t last_pattern = core.soc.arch == 220 ? 7 : 6;
    if (!call.use_pattern_tensor && (call.pattern == 0 || call.pattern > last_pattern)) {
        Report r = core.make("illegal-argument", instr,
                             "pattern " + std::to_string(call.pattern) + " is outside 1.." +
                                 std::to_string(last_pattern) + " on " + core.soc.name);
        r.index = call.pattern;
        core.report(std::move(r));
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
    if (call.repeat == 0 || used == 0) return core.gather_count = 0;
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
    const bool all = use_operand(core, instr, call.src, "src0", from, false);
    (void)all;
    if (call.use_pattern_tensor) {
        const uint64_t bytes = (walk.repeats - 1) * call.src1_rep * 32 + (used + 7) / 8;
        const std::vector<Range> bits{
            {call.pattern_tensor.address, call.pattern_tensor.address + bytes}};
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
    }
    for (size_t i = 0; i < picks.size(); ++i)
        copy_element(core, call.dst.address + i * size, picks[i], size);
    core.charge(instr, vector_cycles(core, 2, walk.repeats), walk.repeats);
    return core.gather_count = picks.size();
}

uint64_t last_gather_mask_count() {
    return current_core("GetGatherMaskRemainCount").gather_count;
}

namespace {
void store_checked(Core& core, uint64_t at, const uint8_t* data, const std::vector<uint8_t>& good,
                   uint64_t bytes) {
    std::memcpy(core.ub.data() + at, data, bytes);
    for (uint64_t i = 0; i < bytes; ++i) core.ub_init.set(at + i, at + i + 1, good[i] != 0);
}
}  // namespace

void transpose16(const UbTensor& dst, const UbTensor& src, Loc loc) {
    Core& core = current_core("Transpose");
    const Instr instr = core.begin("Transpose", kV, loc);
    const std::vector<Range> to{{dst.address, dst.address + 512}},
        from{{src.address, src.address + 512}};
    if (!check_operand(core, instr, dst, "dst", to, 32)) return;
    if (!check_operand(core, instr, src, "src", from, 32)) return;
    if (dst.address != src.address) check_disjoint(core, instr, dst, to[0], from[0], "src");
    use_operand(core, instr, src, "src", from, false);
    use_operand(core, instr, dst, "dst", to, true);
    uint8_t block[512];
    std::vector<uint8_t> good(512);
    for (uint64_t row = 0; row < 16; ++row)
        for (uint64_t column = 0; column < 16; ++column) {
            const uint64_t s = src.address + (row * 16 + column) * 2, d = (column * 16 + row) * 2;
            std::memcpy(block + d, core.ub.data() + s, 2);
            good[d] = good[d + 1] = core.ub_init.all(s, s + 2);
        }
    store_checked(core, dst.address, block, good, 512);
    core.charge(instr, vector_cycles(core, 1, 2), 2);
}

void trans_data_to_5hd(const UbTensor (&dst)[16], const UbTensor (&src)[16], bool dst_high,
                       bool src_high, int repeat, int dst_rep, int src_rep, Loc loc) {
    Core& core = current_core("TransDataTo5HD");
    const Instr instr = core.begin("TransDataTo5HD", kV, loc);
    if (repeat == 0) return;
    if (repeat == 1 && (dst_rep != 0 || src_rep != 0)) {
        Report r =
            core.make("illegal-stride", instr, "with repeatTimes 1 both repeat strides must be 0");
        r.index = dst_rep != 0 ? dst_rep : src_rep;
        core.report(std::move(r));
    }
    const uint32_t size = dst[0].element_size, row = 32 / size;
    for (int r = 0; r < repeat; ++r) {
        uint8_t in[16][32], out[16][32];
        bool good_in[16][32] = {}, good_out[16][32] = {}, written[16][32] = {};
        for (int i = 0; i < 16; ++i) {
            const uint64_t s = src[i].address + uint64_t(r) * static_cast<uint64_t>(src_rep) * 32;
            const uint64_t d = dst[i].address + uint64_t(r) * static_cast<uint64_t>(dst_rep) * 32;
            const std::vector<Range> from{{s, s + 32}}, to{{d, d + 32}};
            if (!check_operand(core, instr, src[i], "src", from, 32)) return;
            if (!check_operand(core, instr, dst[i], "dst", to, 32)) return;
            use_operand(core, instr, src[i], "src", from, false);
            use_operand(core, instr, dst[i], "dst", to, true);
            std::memcpy(in[i], core.ub.data() + s, 32);
            std::memcpy(out[i], core.ub.data() + d, 32);
            for (uint64_t b = 0; b < 32; ++b) good_in[i][b] = core.ub_init.test(s + b);
        }
        const auto move = [&](uint32_t di, uint32_t de, uint32_t si, uint32_t se) {
            std::memcpy(out[di] + de * size, in[si] + se * size, size);
            for (uint32_t b = 0; b < size; ++b) {
                good_out[di][de * size + b] = good_in[si][se * size + b];
                written[di][de * size + b] = true;
            }
        };
        for (uint32_t i = 0; i < 16; ++i) {
            if (size == 2) {
                for (uint32_t e = 0; e < 16; ++e) move(e, i, i, e);
            } else if (size == 4) {
                // 16 rows of 8 become 8 rows of 16, each in two consecutive destinations.
                for (uint32_t e = 0; e < row; ++e) move(2 * e + i / 8, i % 8, i, e);
            } else {
                // 8-bit: half of each source block becomes a column in half of each destination
                // block.
                for (uint32_t e = 0; e < 16; ++e)
                    move(e, (dst_high ? 16 : 0) + i, i, (src_high ? 16 : 0) + e);
            }
        }
        for (int i = 0; i < 16; ++i) {
            const uint64_t d = dst[i].address + uint64_t(r) * static_cast<uint64_t>(dst_rep) * 32;
            for (uint64_t b = 0; b < 32; ++b) {
                if (!written[i][b]) continue;
                core.ub[d + b] = out[i][b];
                core.ub_init.set(d + b, d + b + 1, good_out[i][b]);
            }
        }
    }
    const auto repeats = static_cast<uint64_t>(repeat);
    core.charge(instr, vector_cycles(core, 2, repeats), repeats);
}

void broadcast(const UbTensor& dst, const UbTensor& src, const UbTensor* tmp, int dims, int axis,
               const uint32_t* dst_shape, const uint32_t* src_shape, Loc loc) {
    Core& core = current_core("Broadcast");
    const Instr instr = core.begin("Broadcast", kV, loc);
    const uint32_t size = dst.element_size;
    const uint64_t rows = dims == 2 ? dst_shape[0] : 1, columns = dst_shape[dims - 1];
    const uint64_t src_rows = dims == 2 ? src_shape[0] : 1, src_columns = src_shape[dims - 1];
    const bool along_rows = dims == 2 && axis == 0;
    const bool fits =
        along_rows ? src_rows == 1 && src_columns == columns : src_columns == 1 && src_rows == rows;
    if (!fits) {
        Report r = core.make(
            "illegal-argument", instr,
            "the source shape must equal the destination's, with 1 on the broadcast axis");
        r.index = axis;
        core.report(std::move(r));
        return;
    }
    if (dims == 2 && columns * size % 32 != 0 && along_rows) {
        core.report(core.make("misaligned", instr, "a row of dst must be a multiple of 32 bytes"));
        return;
    }
    const std::vector<Range> to{{dst.address, dst.address + rows * columns * size}};
    const std::vector<Range> from{{src.address, src.address + src_rows * src_columns * size}};
    if (!check_operand(core, instr, dst, "dst", to, 32)) return;
    if (!check_operand(core, instr, src, "src", from, 32)) return;
    check_disjoint(core, instr, dst, to[0], from[0], "src");
    use_operand(core, instr, src, "src", from, false);
    if (tmp != nullptr && tmp->bytes != 0) {
        const std::vector<Range> scratch{{tmp->address, uint64_t(tmp->address) + tmp->bytes}};
        if (!check_operand(core, instr, *tmp, "the temporary", scratch, 32)) return;
        use_operand(core, instr, *tmp, "the temporary", scratch, true);
        core.ub_init.set(scratch[0].begin, scratch[0].end, false);
    }
    use_operand(core, instr, dst, "dst", to, true);
    for (uint64_t r = 0; r < rows; ++r)
        for (uint64_t c = 0; c < columns; ++c)
            copy_element(core, dst.address + (r * columns + c) * size,
                         src.address + (along_rows ? c : r) * size, size);
    const uint64_t repeats = (rows * columns * size + 255) / 256;
    core.charge(instr, vector_cycles(core, 2, repeats), repeats);
}

}  // namespace ascendc_emulator::rt
