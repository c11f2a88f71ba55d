#include "copy_checks.h"

#include <algorithm>

namespace ascendc_emulator {

bool check_copy_shape(Core& core, const Instr& instr, const rt::CopyCall& call, const UbTensor& t) {
    const uint32_t element = t.element_size;
    const auto fail = [&](const char* rule, int64_t index, const std::string& message) {
        core.report(core.make(rule, instr, message, t, index));
        return false;
    };
    if (call.counted && core.launch.options.check_operands && call.requested_bytes % 32 != 0)
        fail("uncovered-length", static_cast<int64_t>(call.block_bytes / element),
             "copies " + std::to_string(call.requested_bytes) +
                 " bytes rounded down to a multiple of 32: the last " +
                 std::to_string(call.requested_bytes - call.block_bytes) + " bytes are not copied");
    if (call.block_count > 4095)
        return fail("illegal-count", call.block_count,
                    "blockCount " + std::to_string(call.block_count) + " is outside 0..4095");
    if (call.pad && call.block_bytes > 2097151)
        return fail(
            "illegal-count", static_cast<int64_t>(call.block_bytes),
            "blockLen " + std::to_string(call.block_bytes) + " is outside 0..2097151 bytes");
    if (call.pad && call.block_bytes % element != 0)
        return fail("illegal-count", static_cast<int64_t>(call.block_bytes),
                    "blockLen " + std::to_string(call.block_bytes) +
                        " is not a multiple of the element size " + std::to_string(element));
    if (call.left * element > 32 || call.right * element > 32)
        return fail("illegal-argument", std::max(call.left, call.right),
                    "leftPadding and rightPadding are at most 32 bytes each");
    if (call.block_count == 0 || call.block_bytes == 0) {
        if (!core.soc.zero_is_noop)
            core.note("zero-count", instr,
                      "a copy of length 0 is documented as no operation on Atlas A2/A3 only");
        return false;
    }
    return true;
}

void check_atomic_target(Core& core, const Instr& instr, const GmTensor& gm, uint64_t bytes) {
    if (core.atomic == rt::Atomic::none || !core.launch.options.check_memory) return;
    auto buffer = core.gm_range(instr, gm, 0, bytes);
    if (!buffer) return;
    const auto start = static_cast<uint64_t>(gm.address - buffer->begin);
    uint64_t bad = start + bytes;
    buffer->locked_pages(start, start + bytes, [&](uint64_t b, uint64_t e) {
        const uint64_t hit = buffer->init.find(b, e, false);
        if (hit < e) bad = std::min(bad, hit);
        if (hit < e) buffer->init.set(b, e, true);
    });
    if (bad == start + bytes) return;
    core.report(core.make("uninitialized-read", instr,
                          "an atomic store adds to GM bytes that nobody wrote", *buffer, start,
                          start + bytes, static_cast<int64_t>(bad - start) / gm.element_size));
}

void check_atomic_dtype(Core& core, const Instr& instr, const UbTensor& t) {
    if (core.atomic == rt::Atomic::none || t.dtype == core.atomic_dtype) return;
    if (!core.launch.options.check_operands) return;
    core.report(core.make("atomic-dtype", instr,
                          std::string("the atomic mode is of ") + dtype_name(core.atomic_dtype) +
                              ", the copy of " + dtype_name(t.dtype),
                          t));
}

void check_gm_alignment(Core& core, const Instr& instr, const GmTensor& gm) {
    if (!core.launch.options.check_operands) return;
    if (reinterpret_cast<uintptr_t>(gm.address) % gm.element_size == 0) return;
    const auto address = reinterpret_cast<uintptr_t>(gm.address);
    Report r =
        core.make("misaligned", instr,
                  "the GM address " + hex(address) + " is not a multiple of the element size " +
                      std::to_string(gm.element_size));
    if (auto buffer = GmRegistry::instance().find(gm.address))
        r = core.make("misaligned", instr, r.message, *buffer,
                      address - reinterpret_cast<uintptr_t>(buffer->begin),
                      address - reinterpret_cast<uintptr_t>(buffer->begin) + gm.element_size);
    core.report(std::move(r));
}

}  // namespace ascendc_emulator
