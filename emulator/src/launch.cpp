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

Report launch_report(const std::string& kernel, const std::string& message) {
    Report r;
    r.rule = "launch";
    r.instruction = kernel;
    r.message = message;
    return r;
}

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

uint32_t Launch::intern(const Site& site) {
    std::unique_lock<std::shared_mutex> guard(site_mutex_);
    if (const auto it = site_index_.find(site); it != site_index_.end()) return it->second;
    sites_.push_back(site);
    return site_index_[site] = static_cast<uint32_t>(sites_.size() - 1);
}

Site Launch::site(uint32_t id) const {
    std::shared_lock<std::shared_mutex> guard(site_mutex_);
    return sites_[id];
}

void Launch::finish_core(Core& core) {
    // The end of a kernel waits for all pipes.
    core.barrier_all();
    core.cost.cycles = *std::max_element(core.time.begin(), core.time.end());
}

// The launch cannot go on. The report has to wait: there may be no memory for it.
void Launch::fail(const char* reason) {
    failure_.store(reason);
    stop();
}

void Launch::run_core(Core& core, const std::function<void()>& body) {
    t_core = &core;
    rt::core_type = soc.split_cores ? AscendC::AIV : AscendC::MIX;
    try {
        if (!stopped()) body();
        if (!stopped()) check_end(core);
    } catch (const StopKernel&) {
    } catch (const std::bad_alloc&) {
        fail("memory ran out while the kernel ran");
    } catch (...) {
        fail("an exception has left the kernel");
    }
    t_core = nullptr;
}

void Launch::run_block(uint32_t index, const std::function<void()>& body) {
    const DefaultFloatEnvironment environment;
    try {
        auto core = std::make_unique<Core>(*this, index);
        std::lock_guard<std::mutex> guard(mutex);
        cores[index] = std::move(core);
    } catch (const std::bad_alloc&) {
        return fail("there is no memory for all cores: launch fewer blocks");
    }
    Core& core = *cores[index];
    run_core(core, body);
    finish_core(core);
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

void Launch::release_atomics(uint32_t cores_from_the_first) {
    for (uint32_t b = 0; b < cores_from_the_first; ++b)
        if (cores[b]) cores[b]->flush_atomics();
}

Result Launch::run(const std::function<void()>& body) {
    const uint32_t threads =
        std::max<uint32_t>(1, std::min(blocks, std::max<uint32_t>(core_limit, 1)));
    const auto run_blocks = [&](uint32_t first) {
        for (uint32_t b = first; b < blocks; b += threads) run_block(b, body);
    };
    std::vector<std::thread> workers;
    try {
        workers.reserve(threads);
        for (uint32_t w = 1; w < threads; ++w) workers.emplace_back(run_blocks, w);
    } catch (const std::exception&) {
        fail("the host cannot start a thread for every core: launch fewer blocks");
    }
    // Core 0 runs here: a debugger shows its kernel under the test program's frames.
    if (!stopped()) run_blocks(0);
    for (std::thread& worker : workers) worker.join();
    if (failure_.load() != nullptr) add_report(launch_report(kernel, failure_.load()));
    release_atomics(blocks);
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

uint32_t core_count(int arch, const std::string& soc_version) {
    const SocInfo* soc = find_soc(arch);
    return soc == nullptr ? 0 : core_count(*soc, soc_version);
}

Result launch(int arch, const std::string& kernel, uint32_t block_dim,
              const std::function<void()>& body, const Options& options) {
    const auto refuse = [&](const std::string& message) {
        Result result;
        result.reports.push_back(launch_report(kernel, message));
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
