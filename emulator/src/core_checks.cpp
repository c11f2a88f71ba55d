// What an access to UB or GM must satisfy, and the reports when it does not.
#include <algorithm>

#include "core.h"

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
        Report r = make(rule, instr, std::string(role) + " " + message);
        r.tensor = describe(t);
        report(std::move(r));
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
                        ", which is not a multiple of " + std::to_string(bytes) + " bytes");
    r.tensor = describe(t);
    const uint32_t begin = t.buffer < buffers.size() ? buffers[t.buffer].begin : 0;
    r.begin = t.address - begin;
    r.end = r.begin + t.bytes;
    r.index = static_cast<int64_t>(r.begin / t.element_size);
    report(std::move(r));
    return t.address % t.element_size == 0;
}

bool Core::check_bounds(const Instr& instr, const UbTensor& t, const char* role, uint64_t begin,
                        uint64_t end) {
    if (begin >= end) return true;
    const UbBuffer& b = buffers[t.buffer];
    const bool inside = begin >= b.begin && end <= uint64_t(b.begin) + b.bytes;
    if (inside) return true;
    if (!launch.options.check_memory) return end <= ub.size();
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
    r.tensor = describe(t);
    r.begin = begin - base;
    r.end = end - base;
    r.index = (static_cast<int64_t>(c.byte) - static_cast<int64_t>(t.address)) / t.element_size;
    report(std::move(r));
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

std::shared_ptr<GmBuffer> Core::gm_range(const Instr& instr, const GmTensor& t, uint64_t begin,
                                         uint64_t bytes) {
    const uint8_t* address = t.address + begin;
    const auto holds = [](const GmBuffer& b, const uint8_t* p) {
        return p >= b.begin && p < b.begin + b.bytes;
    };
    if (!last_gm_ || !holds(*last_gm_, t.origin)) {
        auto& registry = GmRegistry::instance();
        last_gm_ = registry.find(t.origin);
        if (!last_gm_) last_gm_ = registry.find(address);
        if (!last_gm_) last_gm_ = registry.nearest(address);
    }
    auto buffer = last_gm_;
    const bool known_buffer = buffer && address >= buffer->begin;
    if (known_buffer && address + bytes <= buffer->begin + buffer->bytes) {
        launch.attach(buffer);
        return buffer;
    }
    Report r = make("gm-out-of-bounds", instr, "");
    if (known_buffer) {
        r.tensor = buffer->describe();
        r.begin = static_cast<uint64_t>(address - buffer->begin);
        r.end = r.begin + bytes;
        const int64_t first_bad =
            std::max<int64_t>(static_cast<int64_t>(buffer->bytes), static_cast<int64_t>(r.begin));
        r.index = (first_bad - (t.address - buffer->begin)) / t.element_size;
        r.message = "reaches bytes " + std::to_string(r.begin) + ".." + std::to_string(r.end) +
                    " of " + r.tensor + "; first element outside is " + std::to_string(r.index) +
                    " of the tensor";
    } else {
        r.tensor = "address " + hex(reinterpret_cast<uintptr_t>(address));
        r.end = bytes;
        r.message = "the address lies in no GM buffer (GmAlloc or register_gm)";
    }
    last_gm_.reset();
    report(std::move(r));
    return nullptr;
}

// Neighbouring bytes in the same block (the same cache line for scalar stores) that another core
// wrote: products without byte-exact copies and the scalar cache write the whole of it.
void Core::check_shared_block(const Instr& instr, GmBuffer& buffer, uint64_t begin, uint64_t end) {
    const uint64_t unit = instr.pipe == kS ? 64 : 32;
    const uint64_t first = begin / unit * unit;
    const uint64_t last = std::min((end + unit - 1) / unit * unit, buffer.bytes);
    for (uint64_t byte = first; byte < last; byte = byte + 1 == begin ? end : byte + 1) {
        if (byte >= begin && byte < end) continue;
        const Access other = buffer.history->last_write(byte);
        if (other.clock == 0 || other.block() == block || other.atomic) continue;
        if (instr.pipe == kS && other.pipe() != kS) continue;
        if (before(other, true, stamp(instr), true)) continue;
        const bool is_rule = instr.pipe == kS || !soc.exact_gm_copy;
        if (!is_rule && !launch.options.notes) return;
        Report r =
            make("gm-block-shared", instr,
                 "writes into the same " + std::to_string(unit) + " bytes of GM as core " +
                     std::to_string(other.block()) + ", with no synchronisation between them");
        r.severity = is_rule ? Severity::error : Severity::note;
        r.tensor = buffer.describe();
        r.begin = begin;
        r.end = end;
        r.index = static_cast<int64_t>(byte);
        r.other = site_text(other);
        if (is_rule) return report(std::move(r));
        return launch.add_report(std::move(r));
    }
}

// The caller holds the lock of the page that [begin, end) lies in.
void Core::access_gm(const Instr& instr, GmBuffer& buffer, uint64_t begin, uint64_t end,
                     bool writes, bool cached) {
    if (!launch.options.check_sync) return;
    Access now = stamp(instr);
    now.cached = cached;
    const Access previous = writes ? buffer.history->last_write(begin) : Access();
    const Conflict c = buffer.history->access(begin, end, now, writes, *this);
    if (instr.atomic && previous.atomic && previous.block() != block &&
        (remote.empty() || previous.clock > remote[previous.agent]) &&
        (atomic_dtype == DType::f32 || atomic_dtype == DType::f16 || atomic_dtype == DType::bf16))
        note("float-atomic-order", instr,
             "floating-point atomics of several cores on one address: the sum depends on their "
             "order");
    if (!c.found) {
        if (writes && !instr.atomic) check_shared_block(instr, buffer, begin, end);
        const Access w = writes ? Access() : buffer.history->last_write(begin);
        if (w.cached && w.clock != 0 && (w.block() != block || instr.pipe != kS)) {
            Report r = make("gm-cache", instr,
                            "reads bytes that a scalar store left in the data cache: "
                            "DataCacheCleanAndInvalid is missing");
            r.other = site_text(w);
            r.tensor = buffer.describe();
            r.begin = begin;
            r.end = end;
            report(std::move(r));
        }
        return;
    }
    const bool foreign = c.other.block() != block;
    // Which core comes second is luck: name the reader first, else the higher core.
    const bool swap = foreign && (writes != c.other_writes ? writes : c.other.block() > block);
    Access mine = now, theirs = c.other;
    bool first_writes = writes, second_writes = c.other_writes;
    if (swap) {
        std::swap(mine, theirs);
        std::swap(first_writes, second_writes);
    }
    const Site site = launch.site(mine.site);
    Report r = make(foreign ? "gm-race" : "missing-sync",
                    {site.name, site.loc, static_cast<Pipe>(mine.pipe())}, "");
    r.core = static_cast<int>(mine.block());
    r.tensor = buffer.describe();
    r.begin = begin;
    r.end = end;
    r.index = static_cast<int64_t>(c.byte);
    r.other = std::string(second_writes ? "write, " : "read, ") + site_text(theirs);
    r.message =
        std::string(first_writes ? "writes" : "reads") + " GM byte " + std::to_string(c.byte);
    if (foreign) {
        r.message += std::string(", which core ") + std::to_string(theirs.block()) +
                     (second_writes ? " writes" : " reads") +
                     ", with no synchronisation between the cores";
    } else {
        r.message += std::string(second_writes ? ", written" : ", read") + " on " +
                     pipe_name(theirs.pipe()) + " of the same core, without " +
                     pipe_name(theirs.pipe()) + " -> " + pipe_name(instr.pipe) +
                     " order (event or PipeBarrier)";
    }
    report(std::move(r));
}

}  // namespace ascendc_emulator
