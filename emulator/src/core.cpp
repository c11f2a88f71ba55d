#include "core.h"

#include <algorithm>
#include <cstring>

namespace ascendc_emulator {
namespace {

// Clock components that a blocking scalar instruction makes known to everything issued later.
// The scalar unit issues in program order, so what it waited for is done; its own stores are not.
constexpr int kAsynchronous[] = {kV, kMte2, kMte3};

bool in_order(int pipe) {
    return pipe == kS || pipe == kV;
}

std::string at(Loc loc) {
    return std::string(loc.file ? loc.file : "?") + ":" + std::to_string(loc.line);
}

}  // namespace

void join(Clocks& into, const Clocks& from) {
    for (int p = 0; p < kPipes; ++p) into[p] = std::max(into[p], from[p]);
}

std::string hex(uint64_t value) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    do {
        text.insert(text.begin(), kDigits[value & 15]);
        value >>= 4;
    } while (value != 0);
    return "0x" + text;
}

uint32_t size_of(DType dtype) {
    constexpr uint32_t kSizes[] = {4, 2, 2, 1, 1, 2, 2, 4, 4, 8, 8, 1};
    return kSizes[static_cast<int>(dtype)];
}

const char* dtype_name(DType dtype) {
    constexpr const char* kNames[] = {"float",    "half",    "bfloat16_t", "int8_t",
                                      "uint8_t",  "int16_t", "uint16_t",   "int32_t",
                                      "uint32_t", "int64_t", "uint64_t",   "other"};
    return kNames[static_cast<int>(dtype)];
}

Core::Core(Launch& l, uint32_t b)
    : launch(l),
      soc(l.soc),
      block(b),
      ub(l.soc.ub_bytes),
      ub_history(l.soc.ub_bytes, 1024),
      ub_init(l.soc.ub_bytes, false),
      buffers(1),
      queues(1),
      pools(1) {
    auto* word = reinterpret_cast<uint64_t*>(ub.data());
    std::fill_n(word, ub.size() / 8, kPoison);
    pools[0].bytes = soc.ub_bytes;
}

void Core::release() {
    ub = std::vector<uint8_t>();
    ub_history.clear();
    buffers = std::vector<UbBuffer>();
    queues = std::vector<Queue>();
    flags.clear();
    site_cache_.clear();
}

bool Core::before(const Access& earlier, bool earlier_writes, const Access& now,
                  bool now_writes) const {
    if (earlier.atomic && now.atomic && earlier_writes && now_writes) return true;
    if (earlier.block() != block) return !remote.empty() && earlier.clock <= remote[earlier.agent];
    const int from = earlier.pipe(), to = now.pipe();
    if (from == to && in_order(to)) return true;
    // A scalar load has its value before the next instruction is issued.
    if (from == kS && !earlier_writes) return true;
    return earlier.clock <= known[to][from];
}

uint32_t Core::intern(const char* name, Loc loc) {
    const uint64_t key = reinterpret_cast<uintptr_t>(loc.file) * 31 +
                         reinterpret_cast<uintptr_t>(name) * 131071 +
                         static_cast<uint64_t>(loc.line) * 1000003;
    if (key == last_site_key_) return last_site_;
    auto [it, fresh] = site_cache_.try_emplace(key, 0);
    if (fresh) it->second = launch.intern(name, loc);
    last_site_key_ = key;
    return last_site_ = it->second;
}

Instr Core::begin(const char* name, Pipe pipe, Loc loc) {
    if (launch.stopped()) throw StopKernel{};
    ++sequence;
    if (pipe != kS)
        for (int p : kAsynchronous) known[pipe][p] = std::max(known[pipe][p], known[kS][p]);
    Instr instr{name, loc, pipe};
    instr.clock = ++clock[pipe];
    if (in_order(pipe)) known[pipe][pipe] = instr.clock;
    instr.site = intern(name, loc);
    if (launch.options.cost) {
        time[kS] += soc.cost.scalar_issue;
        cost.pipe[kS].busy += soc.cost.scalar_issue;
        ++cost.pipe[pipe].instructions;
        if (pipe != kS) time[pipe] = std::max(time[pipe], time[kS]);
    }
    return instr;
}

Access Core::stamp(const Instr& instr) const {
    Access a;
    a.clock = instr.clock;
    a.site = instr.site;
    a.agent = block * kPipes + instr.pipe;
    a.atomic = instr.atomic;
    return a;
}

Report Core::make(const char* rule, const Instr& instr, const std::string& message) const {
    Report r;
    r.rule = rule;
    r.instruction = instr.name;
    r.file = instr.loc.file ? instr.loc.file : "";
    r.line = instr.loc.line;
    r.core = static_cast<int>(block);
    r.pipe = pipe_name(instr.pipe);
    r.message = message;
    r.sequence = sequence;
    return r;
}

void Core::report(Report r) {
    const bool fatal = r.severity == Severity::error && !launch.options.collect;
    launch.add_report(std::move(r));
    if (!fatal) return;
    launch.stop();
    throw StopKernel{};
}

void Core::note(const char* rule, const Instr& instr, const std::string& message) {
    if (!launch.options.notes) return;
    Report r = make(rule, instr, message);
    r.severity = Severity::note;
    launch.add_report(std::move(r));
}

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
    if (known_buffer && address + bytes <= buffer->begin + buffer->bytes) return buffer;
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
    if (!launch.options.check_sync || !buffer.history) return;
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

// ---- Flags and barriers
// ---------------------------------------------------------------------------

Flag Core::make_flag(Pipe pipe, Loc loc) const {
    Flag flag;
    flag.clocks = known[pipe];
    for (int p : kAsynchronous) flag.clocks[p] = std::max(flag.clocks[p], known[kS][p]);
    flag.clocks[pipe] = clock[pipe];
    flag.time = time[pipe];
    flag.loc = loc;
    flag.set = true;
    return flag;
}

void Core::wait_until(Pipe pipe, double moment) {
    if (!launch.options.cost) return;
    ++cost.pipe[pipe].waits;
    if (moment <= time[pipe]) return;
    cost.pipe[pipe].wait += moment - time[pipe];
    time[pipe] = moment;
}

void Core::take_flag(Pipe pipe, const Flag& flag) {
    join(known[pipe], flag.clocks);
    wait_until(pipe, flag.time + soc.cost.event_latency);
}

void Core::barrier(Pipe pipe) {
    known[pipe][pipe] = clock[pipe];
}

void Core::barrier_all() {
    const double latest = *std::max_element(time.begin(), time.end());
    for (int p = 0; p < kPipes; ++p) {
        known[p] = clock;
        wait_until(static_cast<Pipe>(p), latest);
    }
}

// ---- Cost
// -----------------------------------------------------------------------------------------

void Core::charge(const Instr& instr, double cycles, uint64_t repeats) {
    if (!launch.options.cost) return;
    PipeCost& c = cost.pipe[instr.pipe];
    c.repeats += repeats;
    c.busy += cycles;
    if (launch.options.trace)
        trace.push_back({static_cast<int32_t>(block), instr.pipe, instr.name, instr.loc.file,
                         instr.loc.line, time[instr.pipe], cycles});
    time[instr.pipe] += cycles;
}

// Loads and stores share the core's bandwidth. A transfer takes the first free stretches after it
// is ready, also those before transfers that were issued earlier but have to wait longer.
double Core::occupy_gm(double ready, double cycles) {
    const double oldest = std::min(time[kMte2], time[kMte3]);
    while (!gm_busy.empty() && gm_busy.front().second < oldest) gm_busy.pop_front();
    std::deque<std::pair<double, double>> merged;
    const auto add = [&](std::pair<double, double> piece) {
        if (!merged.empty() && merged.back().second >= piece.first) {
            merged.back().second = std::max(merged.back().second, piece.second);
        } else {
            merged.push_back(piece);
        }
    };
    double at = ready;
    for (const auto& taken : gm_busy) {
        const double free = std::min(cycles, taken.first - at);
        if (taken.second > ready && free > 0) {
            add({at, at + free});
            at += free;
            cycles -= free;
        }
        add(taken);
        if (cycles > 0) at = std::max(at, taken.second);
    }
    if (cycles > 0) add({at, at + cycles});
    gm_busy = std::move(merged);
    return at + cycles;
}

void Core::charge_transfer(const Instr& instr, uint64_t bytes, uint64_t pieces, const uint8_t* gm) {
    if (!launch.options.cost) return;
    const CostTable& t = soc.cost;
    PipeCost& c = cost.pipe[instr.pipe];
    c.transfers += pieces;
    c.bytes += bytes;
    const auto address = reinterpret_cast<uintptr_t>(gm);
    double rate = launch.gm_rate;
    if (address % 512 != 0) {
        c.unaligned_512 += pieces;
        rate *= t.unaligned_512_factor;
    }
    if (address % 32 != 0) c.unaligned_32 += pieces;
    const double setup = t.mte_startup + t.mte_per_piece * static_cast<double>(pieces - 1);
    const double needed = static_cast<double>(bytes) / rate;
    const double end = occupy_gm(time[instr.pipe] + setup, needed);
    charge(instr, setup + needed);
    // What exceeds the transfer's own time was spent waiting for bandwidth.
    wait_until(instr.pipe, end);
}

}  // namespace ascendc_emulator
