// Rearranging UB: CreateVecIndex, Brcb, transposes, Broadcast.
#include <algorithm>
#include <cstring>

#include "vector_engine.h"

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
        core.report(core.make("illegal-stride", instr, "dstBlkStride 0 is undefined", dst, 0));
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
    check_apart(core, instr, dst, to, from, "src");
    use_operand(core, instr, src, "src", from, false);
    use_operand(core, instr, dst, "dst", to, true);
    if (core.soc.arch == 200) core.use_reserved_ub(instr);
    for (size_t i = 0; i < to.size(); ++i)
        for (uint64_t at = to[i].begin; at < to[i].end; at += size)
            copy_element(core, at, src.address + i * size, size);
    const auto repeats = static_cast<uint64_t>(repeat);
    core.charge(instr, vector_cycles(core, 1, repeats), repeats);
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
    if (dst.address != src.address) check_apart(core, instr, dst, to, from, "src");
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

namespace {
// TransDataTo5HD, sixteen blocks of each a repeat: within one the same blocks in place or none of
// them, and no earlier one's results.
void check_blocks(Core& core, const Instr& instr, const UbTensor (&dst)[16],
                  const std::vector<Range>& to, const std::vector<Range>& from) {
    const Range writes = hull(to), reads = hull(from);
    if (writes.end <= reads.begin || reads.end <= writes.begin) return;
    // The destination that a byte lies in.
    const auto holder = [&](const std::optional<uint64_t>& byte) -> const UbTensor& {
        size_t of = 0;
        while (byte && (*byte < to[of].begin || *byte >= to[of].end)) ++of;
        return dst[of % 16];
    };
    WrittenBytes written(core, writes, reads);
    for (size_t k = 0; k < to.size(); k += 16) {
        bool in_place = true;
        WrittenBytes own(core, writes, reads);
        for (size_t i = k; i < k + 16; ++i) {
            in_place = in_place && to[i].begin == from[i].begin;
            own.add(to[i]);
        }
        for (size_t i = k; i < k + 16; ++i) {
            if (!written.allow(core, instr, holder(written.first_in(from[i])), from[i], "src",
                               "repeat", k / 16))
                return;
            if (!in_place && !own.allow(core, instr, holder(own.first_in(from[i])), from[i],
                                        "src of one repeat"))
                return;
        }
        for (size_t i = k; i < k + 16; ++i) written.add(to[i]);
    }
}
}  // namespace

void trans_data_to_5hd(const UbTensor (&dst)[16], const UbTensor (&src)[16], bool dst_high,
                       bool src_high, int repeat, int dst_rep, int src_rep, Loc loc) {
    Core& core = current_core("TransDataTo5HD");
    const Instr instr = core.begin("TransDataTo5HD", kV, loc);
    if (repeat == 0) return;
    if (repeat == 1 && (dst_rep != 0 || src_rep != 0)) {
        core.report(core.make("illegal-stride", instr,
                              "with repeatTimes 1 both repeat strides must be 0", dst[0],
                              dst_rep != 0 ? dst_rep : src_rep));
    }
    const uint32_t size = dst[0].element_size, row = 32 / size;
    // Blocks of all repeats, one after the other.
    const auto blocks_of = [&](const UbTensor(&tensors)[16], int stride) {
        std::vector<Range> blocks;
        for (int r = 0; r < repeat; ++r)
            for (const UbTensor& t : tensors) {
                const uint64_t at = t.address + uint64_t(r) * static_cast<uint64_t>(stride) * 32;
                blocks.push_back({at, at + 32});
            }
        return blocks;
    };
    const auto to = blocks_of(dst, dst_rep), from = blocks_of(src, src_rep);
    for (size_t k = 0; k < to.size(); ++k) {
        if (!check_operand(core, instr, src[k % 16], "src", {from[k]}, 32)) return;
        if (!check_operand(core, instr, dst[k % 16], "dst", {to[k]}, 32)) return;
    }
    check_blocks(core, instr, dst, to, from);
    for (int r = 0; r < repeat; ++r) {
        uint8_t in[16][32], out[16][32];
        bool good_in[16][32] = {}, good_out[16][32] = {}, written[16][32] = {};
        for (int i = 0; i < 16; ++i) {
            const Range &s = from[static_cast<size_t>(16 * r + i)],
                        &d = to[static_cast<size_t>(16 * r + i)];
            use_operand(core, instr, src[i], "src", {s}, false);
            use_operand(core, instr, dst[i], "dst", {d}, true);
            std::memcpy(in[i], core.ub.data() + s.begin, 32);
            std::memcpy(out[i], core.ub.data() + d.begin, 32);
            for (uint64_t b = 0; b < 32; ++b) good_in[i][b] = core.ub_init.test(s.begin + b);
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
            const uint64_t d = to[static_cast<size_t>(16 * r + i)].begin;
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
        core.report(
            core.make("illegal-argument", instr,
                      "the source shape must equal the destination's, with 1 on the broadcast axis",
                      src, axis));
        return;
    }
    if (dims == 2 && columns * size % 32 != 0 && along_rows) {
        core.report(core.make("misaligned", instr, "a row of dst must be a multiple of 32 bytes",
                              dst, static_cast<int64_t>(columns)));
        return;
    }
    const std::vector<Range> to{{dst.address, dst.address + rows * columns * size}};
    const std::vector<Range> from{{src.address, src.address + src_rows * src_columns * size}};
    if (!check_operand(core, instr, dst, "dst", to, 32)) return;
    if (!check_operand(core, instr, src, "src", from, 32)) return;
    check_apart(core, instr, dst, to, from, "src");
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
