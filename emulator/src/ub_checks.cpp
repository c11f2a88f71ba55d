// What an access to UB must satisfy, and the reports when it does not.
#include <algorithm>

#include "launch.h"

namespace ascendc_emulator {

std::string Core::site_text(const Access& access) const {
    const Site site = launch.site(access.site);
    return std::string(site.name) + " on " + pipe_name(access.pipe()) + " of core " +
           std::to_string(access.block()) + " at " + at(site.loc);
}

std::string Core::describe(const UbTensor& t) const {
    if (t.buffer == 0 || t.buffer >= buffers.size()) return "tensor without a buffer";
    const UbBuffer& b = buffers[t.buffer];
    constexpr const char* kPositions[] = {"VECIN", "VECOUT", "VECCALC"};
    const int position = static_cast<int>(b.position) - static_cast<int>(TPosition::VECIN);
    const char* name = position >= 0 && position < 3 ? kPositions[position] : "UB";
    std::string text;
    if (b.kind == UbBuffer::kQueue) {
        text = "buffer " + std::to_string(b.index + 1) + " of " + std::to_string(b.of) +
               " of TQue<" + name + ">";
    } else if (b.kind == UbBuffer::kAbsolute) {
        text = std::string("absolute ") + name + " tensor";
    } else {
        text = std::string("TBuf<") + name + ">";
    }
    return text + " from " + at(b.loc) + " (UB " + hex(b.begin) + ".." + hex(b.begin + b.bytes) +
           ", " + std::to_string(b.bytes) + " bytes)";
}

bool Core::check_tensor(const Instr& instr, const UbTensor& t, const char* role) {
    if (!launch.options.check_memory && t.buffer != 0 && t.buffer < buffers.size()) return true;
    const auto fail = [&](const char* rule, const std::string& message) {
        report(make(rule, instr, std::string(role) + " " + message, t));
        return false;
    };
    if (t.buffer == 0 || t.buffer >= buffers.size())
        return fail("unallocated-tensor", "is a LocalTensor that no AllocTensor or Get returned");
    const UbBuffer& b = buffers[t.buffer];
    if (b.dead) return fail("stale-tensor", "belongs to a TPipe that was reset or destroyed");
    if (b.kind == UbBuffer::kQueue && (b.state == UbBuffer::kFree || b.generation != t.generation))
        return fail("use-after-free", "was given back by FreeTensor at " + at(b.freed.loc));
    return true;
}

bool Core::check_alignment(const Instr& instr, const UbTensor& t, const char* role,
                           uint32_t bytes) {
    if (!launch.options.check_operands || t.address % bytes == 0) return true;
    Report r = make("misaligned", instr,
                    std::string(role) + " starts at UB " + hex(t.address) +
                        ", which is not a multiple of " + std::to_string(bytes) + " bytes",
                    t);
    r.index = static_cast<int64_t>(r.begin / t.element_size);
    report(std::move(r));
    return t.address % t.element_size == 0;
}

bool Core::check_bounds(const Instr& instr, const UbTensor& t, const char* role, uint64_t begin,
                        uint64_t end) {
    if (begin >= end) return true;
    const UbBuffer& b = buffers[t.buffer];
    const bool inside = begin >= b.begin && end <= uint64_t(b.begin) + b.bytes;
    if (inside || !launch.options.check_memory) return end <= ub.size();
    const uint64_t first_bad =
        begin < b.begin ? begin : std::max<uint64_t>(begin, b.begin + b.bytes);
    Report r = make("ub-out-of-bounds", instr, "");
    r.tensor = describe(t);
    r.begin = begin - b.begin;
    r.end = end - b.begin;
    r.index = (static_cast<int64_t>(first_bad) - static_cast<int64_t>(t.address)) / t.element_size;
    r.message = std::string(role) + " reaches bytes " +
                std::to_string(static_cast<int64_t>(r.begin)) + ".." + std::to_string(r.end) +
                " of a buffer of " + std::to_string(b.bytes) + " bytes; first element outside is " +
                std::to_string(r.index) + " of the tensor";
    report(std::move(r));
    return false;
}

void Core::access_ub(const Instr& instr, const UbTensor& t, uint64_t begin, uint64_t end,
                     bool writes) {
    if (!launch.options.check_sync || begin >= end) return;
    const Conflict c = ub_history.access(begin, end, stamp(instr), writes, *this);
    if (!c.found) return;
    const uint32_t base = buffers[t.buffer].begin;
    Report r = missing_sync(instr, c, writes);
    r.tensor = describe(t);
    r.begin = begin - base;
    r.end = end - base;
    r.index = (static_cast<int64_t>(c.byte) - static_cast<int64_t>(t.address)) / t.element_size;
    report(std::move(r));
}

Report Core::missing_sync(const Instr& instr, const Conflict& c, bool writes) const {
    const int from = c.other.pipe();
    Report r = make("missing-sync", instr, "");
    r.message = std::string(writes ? "writes" : "reads") + " a byte that " +
                (c.other_writes ? "was written" : "is still being read") + " on " +
                pipe_name(from) +
                (from == instr.pipe
                     ? std::string(" with no PipeBarrier<PIPE_") + pipe_name(from) + "> in between"
                     : std::string(" without ") + pipe_name(from) + " -> " + pipe_name(instr.pipe) +
                           " synchronisation (queue, SetFlag/WaitFlag or barrier)");
    r.other = site_text(c.other);
    return r;
}

// What lies there is lost; whoever reads it before writing it anew is told.
void Core::use_reserved_ub(const Instr& instr) {
    if (launch.options.check_sync) {
        const Conflict c = ub_history.access(soc.reserved_ub, ub.size(), stamp(instr), true, *this);
        if (c.found) {
            Report r = missing_sync(instr, c, true);
            r.tensor = "the top 8 KiB of UB, scratch of " + std::string(instr.name);
            r.begin = c.byte;
            r.end = ub.size();
            report(std::move(r));
        }
    }
    if (!launch.options.check_memory) return;
    std::fill(ub.begin() + soc.reserved_ub, ub.end(), uint8_t(0xc1));
    ub_init.set(soc.reserved_ub, ub.size(), false);
    scratched_by = instr.name;
    scratched_at = instr.loc;
}

void Core::report_uninitialized(const Instr& instr, const UbTensor& t, const char* role,
                                uint64_t begin, uint64_t end) {
    if (!launch.options.check_memory) return;
    const uint32_t base = buffers[t.buffer].begin;
    const uint64_t first = ub_init.find(begin, end, false);
    Report r =
        make("uninitialized-read", instr, std::string(role) + " reads bytes that nobody wrote");
    r.tensor = describe(t);
    r.begin = begin - base;
    r.end = end - base;
    r.index = (static_cast<int64_t>(first) - static_cast<int64_t>(t.address)) / t.element_size;
    if (scratched_by != nullptr && end > soc.reserved_ub) {
        r.rule = "reserved-ub";
        r.message = std::string(role) + " reads bytes in the top 8 KiB of UB, which " +
                    scratched_by + " used as scratch";
        r.other = std::string(scratched_by) + " at " + at(scratched_at);
    }
    report(std::move(r));
    ub_init.set(begin, end, true);  // once is enough
}

}  // namespace ascendc_emulator
