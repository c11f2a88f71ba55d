// Which overlaps of destination and source a vector instruction tolerates.
#include <algorithm>

#include "vector_engine.h"

namespace ascendc_emulator {

namespace {

std::string reads_what_was_written(const char* unit, uint64_t number) {
    const std::string name = unit;
    return "overlap across " + name + "s: " + name + " " + std::to_string(number) +
           " reads what an earlier " + name + " wrote";
}

// `first` of UB is the first byte that both touch, `bytes` what is shown of dst.
void report_overlap(Core& core, const Instr& instr, const UbTensor& dst, uint64_t first,
                    const Range& bytes, const std::string& message) {
    const uint32_t base = core.buffers[dst.buffer].begin;
    Report r = core.make("illegal-overlap", instr, "dst and " + message, dst,
                         static_cast<int64_t>((first - dst.address) / dst.element_size));
    r.begin = bytes.begin - base;
    r.end = bytes.end - base;
    core.report(std::move(r));
}

}  // namespace

void check_overlap(Core& core, const Instr& instr, const Walk& walk, const Layout& dst,
                   const UbTensor& dst_tensor, const Layout& src, const char* role,
                   bool accumulates) {
    if (!core.launch.options.check_operands) return;
    const auto span = [&](const Layout& l, uint64_t r) -> Range {
        uint64_t begin = ~uint64_t(0), end = 0;
        const LaneMask& mask = walk.mask_of(r);
        for (uint32_t lane = 0; lane < walk.lanes; ++lane) {
            if (!mask.test(lane)) continue;
            begin = std::min(begin, l.address(r, lane));
            end = std::max(end, l.address(r, lane) + l.element);
        }
        return {begin, end};
    };
    const auto fail = [&](uint64_t repeat, uint64_t byte, const std::string& message) {
        report_overlap(core, instr, dst_tensor, byte, span(dst, repeat),
                       std::string(role) + " " + message);
    };
    const Range d0 = span(dst, 0), s0 = span(src, 0);
    const uint64_t last = walk.repeats - 1;
    // The last repeat may be shorter than the one before it.
    const uint64_t whole = last > 0 ? last - 1 : 0;
    const uint64_t d_end = std::max(span(dst, whole).end, span(dst, last).end);
    const uint64_t s_end = std::max(span(src, whole).end, span(src, last).end);
    if (d_end <= s0.begin || s_end <= d0.begin) return;
    const bool same_lanes =
        dst.base == src.base && dst.element == src.element && dst.block_bytes == src.block_bytes;
    if (walk.contiguous) {
        // In place is fine, and so is narrowing in place: it never catches up with its source.
        if (dst.base == src.base && dst.element <= src.element) return;
        if (dst.element >= src.element)
            return fail(0, std::max(d0.begin, s0.begin), "overlap in part");
    }
    if (same_lanes && dst.repeat_bytes == src.repeat_bytes &&
        (walk.repeats == 1 || dst.repeat_bytes >= d0.end - d0.begin))
        return;
    WrittenBytes written(core, {d0.begin, d_end}, {s0.begin, s_end});
    for (uint64_t r = 0; r < walk.repeats; ++r) {
        const LaneMask& mask = walk.mask_of(r);
        uint32_t shared = 0, active = 0;
        for (uint32_t lane = 0; lane < walk.lanes; ++lane) {
            if (!mask.test(lane)) continue;
            ++active;
            const uint64_t s = src.address(r, lane);
            const auto byte = written.first_in({s, s + src.element});
            if (byte && !accumulates) return fail(0, *byte, reads_what_was_written("repeat", r));
            if (dst.element == src.element && dst.address(r, lane) == s) ++shared;
        }
        const Range d = span(dst, r), s = span(src, r);
        const bool interleaved = dst.block_bytes != 32 || src.block_bytes != 32;
        if (d.begin < s.end && s.begin < d.end && shared != active && !interleaved)
            return fail(r, std::max(d.begin, s.begin), "overlap in part within a repeat");
        for (uint32_t lane = 0; lane < walk.lanes; ++lane)
            if (mask.test(lane))
                written.add({dst.address(r, lane), dst.address(r, lane) + dst.element});
    }
}

WrittenBytes::WrittenBytes(const Core& core, const Range& writes, const Range& reads)
    : both_{std::max(writes.begin, reads.begin), std::min(writes.end, reads.end)} {
    if (!core.launch.options.check_operands || both_.end < both_.begin) both_.end = both_.begin;
    written_.assign(both_.end - both_.begin, false);
}
void WrittenBytes::add(const Range& written) {
    const uint64_t end = std::min(written.end, both_.end);
    for (uint64_t b = std::max(written.begin, both_.begin); b < end; ++b)
        written_[b - both_.begin] = true;
}
std::optional<uint64_t> WrittenBytes::first_in(const Range& read) const {
    const uint64_t end = std::min(read.end, both_.end);
    for (uint64_t b = std::max(read.begin, both_.begin); b < end; ++b)
        if (written_[b - both_.begin]) return b;
    return std::nullopt;
}
bool WrittenBytes::allow(Core& core, const Instr& instr, const UbTensor& dst, const Range& read,
                         const char* role, const char* unit, uint64_t number) const {
    const auto byte = first_in(read);
    if (!byte) return true;
    uint64_t end = *byte;
    while (end < std::min(read.end, both_.end) && written_[end - both_.begin]) ++end;
    report_overlap(
        core, instr, dst, *byte, {*byte, end},
        std::string(role) + " " + (unit ? reads_what_was_written(unit, number) : "overlap"));
    return false;
}

bool check_apart(Core& core, const Instr& instr, const UbTensor& dst, const std::vector<Range>& to,
                 const std::vector<Range>& from, const char* role) {
    WrittenBytes written(core, hull(to), hull(from));
    for (const Range& r : to) written.add(r);
    for (const Range& r : from)
        if (!written.allow(core, instr, dst, r, role)) return false;
    return true;
}

}  // namespace ascendc_emulator
