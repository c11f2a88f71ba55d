// Data movement: DataCopy, DataCopyPad, InitOutput.
#include <algorithm>
#include <cstring>

#include "atomics.h"
#include "copy_checks.h"
#include "gm_access.h"
#include "vector_engine.h"

namespace ascendc_emulator {
namespace {

constexpr uint64_t kPendingLimit = 64ull << 20;  // bytes of deferred atomics per core

struct GmSource {
    bool any = false, all = true;
};

// One contiguous piece GM -> UB, with what is known about each byte.
void piece_in(Core& core, const Instr& instr, uint32_t ub, const GmTensor& gm, uint64_t offset,
              uint64_t bytes, GmSource& seen) {
    auto buffer = core.gm_range(instr, gm, offset, bytes);
    if (!buffer) return;
    settle(core, *buffer);
    const auto start = static_cast<uint64_t>(gm.address - buffer->begin) + offset;
    gm_access(core, instr, *buffer, start, bytes, false, [&](uint64_t b, uint64_t e) {
        const uint64_t to = ub + (b - start);
        std::memcpy(core.ub.data() + to, buffer->begin + b, e - b);
        if (buffer->init.all(b, e)) {
            core.ub_init.set(to, to + e - b, true);
            seen.any = true;
            return;
        }
        seen.all = false;
        for (uint64_t i = b; i < e; ++i) {
            const bool good = buffer->init.test(i);
            seen.any = seen.any || good;
            core.ub_init.set(to + i - b, to + i - b + 1, good);
        }
    });
}

void piece_out(Core& core, const Instr& instr, const GmTensor& gm, uint64_t offset, uint32_t ub,
               uint64_t bytes) {
    auto buffer = core.gm_range(instr, gm, offset, bytes);
    if (!buffer) return;
    const auto start = static_cast<uint64_t>(gm.address - buffer->begin) + offset;
    const bool defer = core.atomic == rt::Atomic::add && is_float(core.atomic_dtype);
    if (!defer) settle(core, *buffer);
    const bool good = !core.launch.options.check_memory || core.ub_init.all(ub, ub + bytes);
    gm_access(core, instr, *buffer, start, bytes, true, [&](uint64_t b, uint64_t e) {
        const uint8_t* from = core.ub.data() + ub + (b - start);
        if (core.atomic == rt::Atomic::none) {
            std::memcpy(buffer->begin + b, from, e - b);
        } else if (!defer) {
            apply_atomic(buffer->begin + b, from, e - b, core.atomic_dtype, core.atomic);
        }
        if (core.atomic != rt::Atomic::none) return;
        buffer->init.set(b, e, true);
        if (good) {
            buffer->stored_garbage.set(b, e, false);
            return;
        }
        for (uint64_t i = b; i < e; ++i)
            buffer->stored_garbage.set(i, i + 1, !core.ub_init.test(ub + i - start));
    });
    if (!defer) return;
    const uint8_t* from = core.ub.data() + ub;
    core.pending_atomics.push_back({buffer, start, core.atomic_dtype, {from, from + bytes}});
    core.pending_bytes += bytes;
    if (core.pending_bytes > kPendingLimit) core.flush_atomics();
}

// UB bytes one block occupies: DataCopyPad rounds each block with its padding up to 32.
uint64_t ub_block(const rt::CopyCall& call, uint32_t element) {
    if (!call.pad) return call.block_bytes;
    const uint64_t padded = call.block_bytes + uint64_t(call.left + call.right) * element;
    return (padded + 31) / 32 * 32;
}

// `count` stretches of `size` bytes, one every `step`; those that touch are one.
std::vector<Range> stretches(uint64_t begin, uint64_t step, uint64_t size, uint64_t count) {
    if (step == size) return {{begin, begin + size * count}};
    std::vector<Range> ranges;
    for (uint64_t i = 0; i < count; ++i)
        ranges.push_back({begin + i * step, begin + i * step + size});
    return ranges;
}

void fill_padding(Core& core, const rt::CopyCall& call, uint32_t element, uint64_t at,
                  uint64_t size) {
    const uint64_t data = at + uint64_t(call.left) * element, data_end = data + call.block_bytes;
    const bool values = call.left != 0 || call.right != 0;
    uint64_t bits = call.pad_bits;
    const bool defined = call.is_pad;
    if (call.is_pad && !values) std::memcpy(&bits, core.ub.data() + data, element);
    const auto fill = [&](uint64_t b, uint64_t e) {
        for (uint64_t i = b; i + element <= e; i += element)
            std::memcpy(core.ub.data() + i, defined ? &bits : &kPoison, element);
        core.ub_init.set(b, e, defined);
    };
    fill(at, data);
    fill(data_end, at + size);
}

}  // namespace
}  // namespace ascendc_emulator

namespace ascendc_emulator::rt {

void copy_in(const UbTensor& dst, const GmTensor& src, const CopyCall& call, Loc loc) {
    Core& core = current_core(call.name);
    const Instr instr = core.begin(call.name, kMte2, loc);
    if (!check_copy_shape(core, instr, call, dst)) return;
    const uint64_t size = ub_block(call, dst.element_size), step = size + call.dst_gap;
    const auto ranges = stretches(dst.address, step, size, call.block_count);
    if (!check_operand(core, instr, dst, "dst", ranges, 32)) return;
    check_gm_alignment(core, instr, src);
    use_operand(core, instr, dst, "dst", ranges, true);
    GmSource seen;
    const uint64_t gm_step = call.block_bytes + call.src_gap;
    const bool merged = step == call.block_bytes && gm_step == call.block_bytes;
    if (merged) {
        piece_in(core, instr, dst.address, src, 0, call.block_bytes * call.block_count, seen);
    } else {
        for (uint64_t i = 0; i < call.block_count; ++i) {
            const uint64_t to = dst.address + i * step;
            piece_in(core, instr,
                     static_cast<uint32_t>(to + uint64_t(call.left) * dst.element_size), src,
                     i * gm_step, call.block_bytes, seen);
            if (call.pad) fill_padding(core, call, dst.element_size, to, size);
        }
    }
    const uint64_t total = call.block_bytes * call.block_count;
    if (!seen.any && !seen.all) report_unwritten_gm(core, instr, src, call.block_bytes);
    core.charge_transfer(instr, total, merged ? 1 : call.block_count, src.address);
}

void copy_out(const GmTensor& dst, const UbTensor& src, const CopyCall& call, Loc loc) {
    Core& core = current_core(call.name);
    Instr instr = core.begin(call.name, kMte3, loc);
    instr.atomic = core.atomic_kind();
    if (!check_copy_shape(core, instr, call, src)) return;
    const uint64_t size = ub_block(call, src.element_size), step = size + call.src_gap;
    const auto ranges = stretches(src.address, step, call.block_bytes, call.block_count);
    if (!check_operand(core, instr, src, "src", ranges, 32)) return;
    check_gm_alignment(core, instr, dst);
    check_atomic_dtype(core, instr, src);
    use_operand(core, instr, src, "src", ranges, false);
    const uint64_t gm_step = call.block_bytes + call.dst_gap;
    const bool merged = step == call.block_bytes && gm_step == call.block_bytes;
    const uint64_t pieces = merged ? 1 : call.block_count;
    const uint64_t bytes = merged ? call.block_bytes * call.block_count : call.block_bytes;
    for (uint64_t i = 0; i < pieces; ++i) {
        GmTensor piece = dst;
        piece.address += i * gm_step;
        check_atomic_target(core, instr, piece, bytes);
        piece_out(core, instr, dst, i * gm_step, static_cast<uint32_t>(src.address + i * step),
                  bytes);
    }
    core.charge_transfer(instr, call.block_bytes * call.block_count, pieces, dst.address);
}

// UB to UB runs on the vector pipe.
void copy_local(const UbTensor& dst, const UbTensor& src, const CopyCall& call, Loc loc) {
    Core& core = current_core(call.name);
    const Instr instr = core.begin(call.name, kV, loc);
    if (!check_copy_shape(core, instr, call, dst)) return;
    std::vector<Range> to, from;
    for (uint64_t i = 0; i < call.block_count; ++i) {
        const uint64_t d = dst.address + i * (call.block_bytes + call.dst_gap);
        const uint64_t s = src.address + i * (call.block_bytes + call.src_gap);
        to.push_back({d, d + call.block_bytes});
        from.push_back({s, s + call.block_bytes});
    }
    if (!check_operand(core, instr, dst, "dst", to, 32)) return;
    if (!check_operand(core, instr, src, "src", from, 32)) return;
    const bool all = use_operand(core, instr, src, "src", from, false);
    use_operand(core, instr, dst, "dst", to, true);
    WrittenBytes written(core, hull(to), hull(from));
    bool clean = true;
    for (size_t i = 0; i < to.size(); ++i) {
        clean = clean && written.allow(core, instr, dst, from[i], "src", "block", i) &&
                (to[i].begin == from[i].begin ||
                 check_apart(core, instr, dst, {to[i]}, {from[i]}, "src of one block"));
        written.add(to[i]);
        std::memmove(core.ub.data() + to[i].begin, core.ub.data() + from[i].begin,
                     call.block_bytes);
        for (uint64_t b = 0; b < call.block_bytes; b += all ? call.block_bytes : 1)
            core.ub_init.set(to[i].begin + b, to[i].begin + (all ? call.block_bytes : b + 1),
                             all || core.ub_init.test(from[i].begin + b));
    }
    const uint64_t bytes = call.block_bytes * call.block_count;
    core.charge(instr, vector_cycles(core, 1, (bytes + 255) / 256), (bytes + 255) / 256);
}

void init_output(const GmTensor& dst, uint64_t elements, uint64_t value_bits, Loc loc) {
    Core& core = current_core("InitOutput");
    const Instr instr = core.begin("InitOutput", kMte3, loc);
    const uint64_t bytes = elements * dst.element_size;
    if (bytes == 0) return;
    auto buffer = core.gm_range(instr, dst, 0, bytes);
    if (!buffer) return;
    settle(core, *buffer);
    const auto start = static_cast<uint64_t>(dst.address - buffer->begin);
    gm_access(core, instr, *buffer, start, bytes, true, [&](uint64_t b, uint64_t e) {
        for (uint64_t i = b; i < e; ++i)
            buffer->begin[i] =
                static_cast<uint8_t>(value_bits >> ((i - start) % dst.element_size * 8));
        buffer->init.set(b, e, true);
        buffer->stored_garbage.set(b, e, false);
    });
    core.charge_transfer(instr, bytes, 1, dst.address);
}

}  // namespace ascendc_emulator::rt
