// What an access to GM must satisfy, and the reports when it does not.
#include <algorithm>

#include "launch.h"

namespace ascendc_emulator {

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
        // Far behind a buffer it is just an address.
        if (last_gm_ && address >= last_gm_->begin + last_gm_->bytes + GmBuffer::kPage)
            last_gm_ = nullptr;
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

// Neighbouring bytes that another core wrote: the scalar unit's cache writes back whole lines, and
// products without byte-exact copies whole blocks.
void Core::check_shared_block(const Instr& instr, GmBuffer& buffer, uint64_t begin, uint64_t end) {
    constexpr uint64_t kBlock = 32, kLine = GmBuffer::kLine;
    const uint64_t first = begin / kLine * kLine;
    const uint64_t last = std::min((end + kLine - 1) / kLine * kLine, buffer.bytes);
    for (uint64_t byte = first < begin ? first : end; byte < last;
         byte = byte + 1 == begin ? end : byte + 1) {
        const Access other = buffer.history->last_write(byte);
        if (other.clock == 0 || other.block() == block || other.atomic != 0) continue;
        const bool is_scalar = instr.pipe == kS || other.pipe() == kS;
        const uint64_t unit = is_scalar ? kLine : kBlock;
        if (byte / unit != begin / unit && byte / unit != (end - 1) / unit) continue;
        if (before(other, true, stamp(instr))) continue;
        const bool is_rule = is_scalar || !soc.exact_gm_copy;
        if (!is_rule && !launch.options.notes) continue;
        Report r =
            make("gm-block-shared", instr,
                 "writes into the same " + std::to_string(unit) + " bytes of GM as core " +
                     std::to_string(other.block()) + ", with no synchronisation between them",
                 buffer, begin, end, static_cast<int64_t>(byte));
        r.severity = is_rule ? Severity::error : Severity::note;
        r.other = site_text(other);
        if (is_rule) return report(std::move(r));
        launch.add_report(std::move(r));
    }
}

// The scalar unit takes whole lines into its data cache, where nothing that others write arrives.
CachedLine& Core::take_line(const GmBuffer& buffer, uint64_t byte) {
    const uint64_t line = byte / GmBuffer::kLine, first = line * GmBuffer::kLine;
    const auto [it, fresh] = cached_lines.try_emplace({buffer.number, line});
    const uint64_t bytes = fresh ? std::min(GmBuffer::kLine, buffer.bytes - first) : 0;
    for (uint64_t i = 0; i < bytes; ++i) {
        const Access w = buffer.history->last_write(first + i);
        it->second.writers[i] = {w.agent, w.clock};
    }
    return it->second;
}

// A scalar load of [begin, end), page locked: stale when others wrote the line after it was taken.
void Core::check_cached_line(const Instr& instr, GmBuffer& buffer, uint64_t begin, uint64_t end) {
    if (!launch.options.check_sync || soc.arch == 100) return;  // 910A cannot clean its cache
    for (uint64_t at = begin; at < end; ++at) {
        const auto taken = take_line(buffer, at).writers[at % GmBuffer::kLine];
        const Access now = buffer.history->last_write(at);
        if (taken == std::make_pair(now.agent, now.clock) || now.agent == block * kPipes + kS)
            continue;
        Report r = make("gm-cache", instr,
                        "reads a line that the data cache took in before the bytes were written: "
                        "DataCacheCleanAndInvalid is missing",
                        buffer, begin, end, static_cast<int64_t>(at));
        r.other = site_text(now);
        return report(std::move(r));
    }
}

// The caller holds the lock of the page that [begin, end) lies in.
void Core::access_gm(const Instr& instr, GmBuffer& buffer, uint64_t begin, uint64_t end,
                     bool writes, bool cached) {
    if (!launch.options.check_sync) return;
    Access now = stamp(instr);
    now.cached = cached;
    // Others do not read what a scalar store left in a data cache; what they write into its line is
    // lost when the cache writes that back.
    constexpr uint64_t kLine = GmBuffer::kLine;
    const uint64_t first = writes ? begin / kLine * kLine : begin;
    const uint64_t last = writes ? std::min((end + kLine - 1) / kLine * kLine, buffer.bytes) : end;
    const uint64_t dirty = buffer.history->find_cached(first, last, now.agent);
    const Access holder = dirty < last ? buffer.history->last_write(dirty) : Access();
    const Access previous = writes ? buffer.history->last_write(begin) : Access();
    const Conflict c = buffer.history->access(begin, end, now, writes, *this);
    if (instr.atomic != 0 && previous.atomic != 0 && previous.block() != block &&
        (remote.empty() || previous.clock > remote[previous.agent]) && is_float(atomic_dtype))
        note("float-atomic-order", instr,
             "floating-point atomics of several cores on one address: the sum depends on their "
             "order");
    if (c.found) return report_race(instr, buffer, begin, end, writes, c);
    if (writes && instr.atomic == 0) check_shared_block(instr, buffer, begin, end);
    // Of another core's store that is not ordered with this one the rules above speak.
    if (dirty == last || (holder.block() != block && !before(holder, true, now))) return;
    Report r =
        make("gm-cache", instr,
             std::string(writes ? "writes into a line" : "reads bytes") +
                 " that a scalar store left in the data cache: DataCacheCleanAndInvalid is missing",
             buffer, begin, end, static_cast<int64_t>(dirty));
    r.other = site_text(holder);
    report(std::move(r));
}

void Core::report_race(const Instr& instr, const GmBuffer& buffer, uint64_t begin, uint64_t end,
                       bool writes, const Conflict& c) {
    const bool foreign = c.other.block() != block;
    // Which core comes second is luck: name the reader first, else the higher core.
    const bool swap = foreign && (writes != c.other_writes ? writes : c.other.block() > block);
    Access mine = stamp(instr), theirs = c.other;
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
