// A launch: one host thread per emulated core, blocks in waves when there are more than cores.
#include <algorithm>
#include <cfenv>
#include <cstdio>
#include <cstring>
#include <thread>

#include "atomics.h"
#include "launch.h"

namespace ascendc_emulator {
namespace {

thread_local Core* t_core = nullptr;

// A core rounds to nearest and keeps subnormals, whatever the calling thread has set.
class DefaultFloatEnvironment {
  public:
    DefaultFloatEnvironment() {
        std::fegetenv(&saved_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~DefaultFloatEnvironment() { std::fesetenv(&saved_); }
    DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;

  private:
    std::fenv_t saved_;
};
KernelMode g_kernel_mode = KernelMode::MIX_MODE;
std::atomic<uint64_t> g_launches{0};

}  // namespace

Core* current_core_or_null() {
    return t_core;
}

Core& current_core(const char* api) {
    if (t_core != nullptr) return *t_core;
    std::fprintf(stderr,
                 "ascendc_emulator: %s was called outside a kernel launch; run the kernel with "
                 "ICPU_RUN_KF or ascendc_emulator::run\n",
                 api);
    std::abort();
}

KernelMode kernel_mode() {
    return g_kernel_mode;
}
void SetKernelMode(KernelMode mode) {
    g_kernel_mode = mode;
}

Launch::Launch(const SocInfo& s, std::string name, uint32_t dim, const Options& o)
    : soc(s), kernel(std::move(name)), options(o), block_dim(dim), id_(++g_launches) {
    blocks = dim;
    if (soc.split_cores && options.kernel_mode == KernelMode::MIX_MODE) sub_blocks = 2;
    blocks *= static_cast<uint32_t>(sub_blocks);
    core_limit = core_count(soc, options.soc_version);
    const double per_cycle = soc.cost.gm_total_gb_per_second * 1e3 / soc.cost.clock_mhz;
    const uint32_t active = std::max<uint32_t>(1, std::min(blocks, core_limit));
    gm_rate = std::min(soc.cost.gm_bytes_per_cycle, per_cycle / active);
    cores.resize(blocks);
    sites_.push_back({"nothing", {}});
}

void Launch::stop() {
    stop_.store(true);
    std::lock_guard<std::mutex> guard(mutex);
    changed.notify_all();
}

void Launch::add_report(Report report) {
    std::lock_guard<std::mutex> guard(report_mutex_);
    // Of one rule and line a note hides no error.
    const std::string key = report.rule + report.file + ":" + std::to_string(report.line) + "#" +
                            std::to_string(report.core) +
                            (report.severity == Severity::note ? "n" : "");
    if (++seen_[key] > 1) return;
    if (reports_.size() >= options.max_reports) {
        ++dropped_;
        return;
    }
    reports_.push_back(std::move(report));
}

uint32_t Launch::intern(const char* name, Loc loc) {
    std::unique_lock<std::shared_mutex> guard(site_mutex_);
    const auto key =
        std::make_pair(reinterpret_cast<uintptr_t>(name),
                       std::make_pair(reinterpret_cast<uintptr_t>(loc.file), loc.line));
    auto [it, fresh] = site_index_.try_emplace(key, static_cast<uint32_t>(sites_.size()));
    if (fresh) sites_.push_back({name, loc});
    return it->second;
}

Site Launch::site(uint32_t id) const {
    std::shared_lock<std::shared_mutex> guard(site_mutex_);
    return sites_[id];
}

void Launch::check_end(Core& core) {
    const auto end_report = [&](const char* rule, const char* name, Loc loc,
                                const std::string& message, const std::string& tensor) {
        Instr instr{name, loc, kS};
        Report r = core.make(rule, instr, message);
        r.tensor = tensor;
        add_report(std::move(r));
        if (!options.collect) stop();
    };
    if (core.atomic != rt::Atomic::none)
        end_report("atomic-left-on", "SetAtomic", core.atomic_loc,
                   "the atomic mode is still on when the kernel ends: SetAtomicNone is missing",
                   "");
    if (!options.check_sync) return;
    for (const auto& [key, flag] : core.flags)
        if (flag.set)
            end_report("event-left-set", "SetFlag", flag.loc,
                       "SetFlag without a WaitFlag: the event is still set when the kernel ends",
                       "");
}

void Launch::finish_core(Core& core) {
    // The end of a kernel waits for all pipes.
    core.barrier_all();
    core.cost.cycles = *std::max_element(core.time.begin(), core.time.end());
}

void Launch::run_block(uint32_t index, const std::function<void()>& body) {
    const DefaultFloatEnvironment environment;
    {
        std::lock_guard<std::mutex> guard(mutex);
        cores[index] = std::make_unique<Core>(*this, index);
    }
    Core& core = *cores[index];
    t_core = &core;
    rt::core_type = soc.split_cores ? AscendC::AIV : AscendC::MIX;
    try {
        if (!stopped()) body();
        if (!stopped()) check_end(core);
    } catch (const StopKernel&) {
    }
    finish_core(core);
    t_core = nullptr;
    std::lock_guard<std::mutex> guard(mutex);
    core.finished = true;
    core.release();
    ++finished_cores;
    state_changed();
}

void Launch::attach(const std::shared_ptr<GmBuffer>& buffer) {
    if (buffer->launch.load(std::memory_order_acquire) == id_) return;
    std::lock_guard<std::mutex> guard(attach_mutex_);
    if (buffer->launch.load(std::memory_order_relaxed) == id_) return;
    buffer->prepare_for_launch();
    attached_.push_back(buffer);
    buffer->launch.store(id_, std::memory_order_release);
}

void Launch::release_all_atomics() {
    for (auto& core : cores)
        if (core) core->flush_atomics();
}

void Launch::report_garbage() {
    if (!options.check_memory) return;
    for (const auto& buffer : attached_) {
        uint64_t byte = buffer->stored_garbage.find(0, buffer->bytes, true);
        if (byte >= buffer->bytes) continue;
        const uint64_t end = buffer->stored_garbage.find(byte, buffer->bytes, false);
        // Up to one block behind the data is the slack that rounded-up stores need.
        if (buffer->bytes - byte < 32) continue;
        const Access writer = buffer->history->last_write(byte);
        const Site origin = site(writer.site);
        Report r;
        r.rule = "uninitialized-output";
        r.instruction = origin.name;
        r.file = origin.loc.file ? origin.loc.file : "";
        r.line = origin.loc.line;
        r.core = static_cast<int>(writer.block());
        r.pipe = pipe_name(writer.pipe());
        r.tensor = buffer->describe();
        r.begin = byte;
        r.end = end;
        r.index = static_cast<int64_t>(byte);
        r.message = "leaves bytes " + std::to_string(byte) + ".." + std::to_string(end) + " of " +
                    r.tensor + " holding data that nobody computed";
        add_report(std::move(r));
    }
}

Result Launch::run(const std::function<void()>& body) {
    const uint32_t threads =
        std::max<uint32_t>(1, std::min(blocks, std::max<uint32_t>(core_limit, 1)));
    std::vector<std::thread> workers;
    for (uint32_t w = 1; w < threads; ++w)
        workers.emplace_back([this, w, threads, &body] {
            for (uint32_t b = w; b < blocks; b += threads) run_block(b, body);
        });
    // Core 0 runs here: a debugger shows its kernel under the test program's frames.
    for (uint32_t b = 0; b < blocks; b += threads) run_block(b, body);
    for (std::thread& worker : workers) worker.join();
    release_all_atomics();
    if (!stopped()) report_garbage();

    Result result;
    result.dropped_reports = dropped_;
    result.reports = std::move(reports_);
    std::stable_sort(result.reports.begin(), result.reports.end(),
                     [](const Report& a, const Report& b) {
                         return std::tie(a.core, a.sequence) < std::tie(b.core, b.sequence);
                     });
    result.cost = collect_cost();
    for (const auto& buffer : attached_) buffer->history.reset();
    return result;
}

Cost Launch::collect_cost() const {
    Cost cost;
    if (!options.cost) return cost;
    cost.clock_mhz = soc.cost.clock_mhz;
    const uint32_t threads = std::max<uint32_t>(1, std::min(blocks, core_limit));
    std::vector<double> lanes(threads, 0);
    for (const auto& core : cores) {
        cost.cores.push_back(core->cost);
        cost.gm_bytes_read += core->cost.pipe[kMte2].bytes;
        cost.gm_bytes_written += core->cost.pipe[kMte3].bytes;
        // A block that waited for its core begins where the one before ended.
        double& lane = lanes[core->block % threads];
        for (TraceEvent event : core->trace) {
            event.start += lane;
            cost.trace.push_back(event);
        }
        lane += core->cost.cycles;
    }
    cost.cycles = *std::max_element(lanes.begin(), lanes.end());
    const double bytes = static_cast<double>(cost.gm_bytes_read + cost.gm_bytes_written);
    cost.bandwidth_bound_cycles =
        bytes / (soc.cost.gm_total_gb_per_second * 1e3 / soc.cost.clock_mhz);
    return cost;
}

uint32_t core_count(int arch, const std::string& soc_version) {
    const SocInfo* soc = find_soc(arch);
    return soc == nullptr ? 0 : core_count(*soc, soc_version);
}

Result launch(int arch, const std::string& kernel, uint32_t block_dim,
              const std::function<void()>& body, const Options& options) {
    Result result;
    const auto refuse = [&](const std::string& message) {
        Report r;
        r.rule = "launch";
        r.instruction = kernel;
        r.message = message;
        result.reports.push_back(r);
        return result;
    };
    const SocInfo* soc = find_soc(arch);
    if (soc == nullptr)
        return refuse("arch " + std::to_string(arch) + " is not 220, 200 or 100 (__CCE_AICORE__)");
    if (core_count(*soc, options.soc_version) == 0)
        return refuse("soc_version '" + options.soc_version + "' is no product of " + soc->name);
    if (block_dim == 0 || block_dim > 65535)
        return refuse("block dim " + std::to_string(block_dim) + " is outside 1..65535");
    if (current_core_or_null() != nullptr) return refuse("a kernel cannot launch a kernel");
    static std::mutex one_at_a_time;  // GM history belongs to one launch
    std::lock_guard<std::mutex> guard(one_at_a_time);
    return Launch(*soc, kernel, block_dim, options).run(body);
}

}  // namespace ascendc_emulator
