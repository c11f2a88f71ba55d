// Which overlaps of destination and source a vector instruction tolerates.
#include <algorithm>

#include "vector_engine.h"

namespace ascendc_emulator {

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
    // `byte` of UB: the first that both touch.
    const auto fail = [&](uint64_t repeat, uint64_t byte, const std::string& message) {
        const uint32_t base = core.buffers[dst_tensor.buffer].begin;
        const Range bytes = span(dst, repeat);
        Report r =
            core.make("illegal-overlap", instr, "dst and " + std::string(role) + " " + message,
                      dst_tensor, static_cast<int64_t>((byte - dst.base) / dst.element));
        r.begin = bytes.begin - base;
        r.end = bytes.end - base;
        core.report(std::move(r));
    };
    const Range d0 = span(dst, 0), s0 = span(src, 0);
    const uint64_t last = walk.repeats - 1;
    const uint64_t d_end = std::max(d0.end, span(dst, last).end);
    const uint64_t s_end = std::max(s0.end, span(src, last).end);
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
    std::vector<uint8_t> writer;  // 1 + repeat (clipped) that wrote each byte
    const uint64_t low = std::min(d0.begin, s0.begin), high = std::max(d_end, s_end);
    writer.assign(high - low, 0);
    for (uint64_t r = 0; r < walk.repeats; ++r) {
        const LaneMask& mask = walk.mask_of(r);
        uint32_t shared = 0, active = 0;
        for (uint32_t lane = 0; lane < walk.lanes; ++lane) {
            if (!mask.test(lane)) continue;
            ++active;
            const uint64_t s = src.address(r, lane);
            for (uint32_t b = 0; b < src.element; ++b)
                if (writer[s + b - low] != 0 && !accumulates)
                    return fail(0, s + b,
                                "overlap across repeats: repeat " + std::to_string(r) +
                                    " reads what an earlier repeat wrote");
            if (dst.element == src.element && dst.address(r, lane) == s) ++shared;
        }
        const Range d = span(dst, r), s = span(src, r);
        const bool interleaved = dst.block_bytes != 32 || src.block_bytes != 32;
        if (d.begin < s.end && s.begin < d.end && shared != active && !interleaved)
            return fail(r, std::max(d.begin, s.begin), "overlap in part within a repeat");
        for (uint32_t lane = 0; lane < walk.lanes; ++lane)
            if (mask.test(lane))
                std::fill_n(writer.begin() + static_cast<int64_t>(dst.address(r, lane) - low),
                            dst.element, 1);
    }
}

void check_disjoint(Core& core, const Instr& instr, const UbTensor& dst, const Range& to,
                    const Range& from, const char* role) {
    if (!core.launch.options.check_operands || to.end <= from.begin || from.end <= to.begin) return;
    const uint64_t first = std::max(to.begin, from.begin);
    Report r = core.make("illegal-overlap", instr, std::string("dst and ") + role + " overlap", dst,
                         static_cast<int64_t>((first - dst.address) / dst.element_size));
    r.end = r.begin + to.end - to.begin;
    core.report(std::move(r));
}

}  // namespace ascendc_emulator
