#include "launch.h"

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

}  // namespace

std::string at(Loc loc) {
    return std::string(loc.file ? loc.file : "?") + ":" + std::to_string(loc.line);
}

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

bool is_float(DType dtype) {
    return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
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
    if (launch.options.cost) charge_start();
}

void Core::release() {
    ub = std::vector<uint8_t>();
    ub_history.clear();
    buffers = std::vector<UbBuffer>();
    queues = std::vector<Queue>();
    flags.clear();
    site_cache_.clear();
}

bool Core::before(const Access& earlier, bool earlier_writes, const Access& now) const {
    if (earlier.block() != block) return !remote.empty() && earlier.clock <= remote[earlier.agent];
    const int from = earlier.pipe(), to = now.pipe();
    if (from == to && in_order(to)) return true;
    // A scalar load has its value before the next instruction is issued.
    if (from == kS && !earlier_writes) return true;
    return earlier.clock <= known[to][from];
}

uint32_t Core::intern(const char* name, Loc loc) {
    const Site site{name, loc};
    if (site == last_site_) return last_site_id_;
    auto [it, fresh] = site_cache_.try_emplace(site, 0);
    if (fresh) it->second = launch.intern(site);
    last_site_ = site;
    return last_site_id_ = it->second;
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

uint8_t Core::atomic_kind() const {
    if (atomic == rt::Atomic::none) return 0;
    return static_cast<uint8_t>(static_cast<int>(atomic) * 16 + static_cast<int>(atomic_dtype));
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

Report Core::make(const char* rule, const Instr& instr, const std::string& message,
                  const UbTensor& t, int64_t index) const {
    Report r = make(rule, instr, message);
    r.tensor = describe(t);
    r.begin = t.address - (t.buffer < buffers.size() ? buffers[t.buffer].begin : 0);
    r.end = r.begin + t.bytes;
    r.index = index;
    return r;
}

Report Core::make(const char* rule, const Instr& instr, const std::string& message,
                  const GmBuffer& b, uint64_t begin, uint64_t end, int64_t index) const {
    Report r = make(rule, instr, message);
    r.tensor = b.describe();
    r.begin = begin;
    r.end = end;
    r.index = index;
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
    note(make(rule, instr, message));
}

void Core::note(Report r) {
    if (!launch.options.notes) return;
    r.severity = Severity::note;
    launch.add_report(std::move(r));
}

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

}  // namespace ascendc_emulator
