#include "core/parallel.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <optional>
#ifdef _OPENMP
#include <omp.h>
#endif
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "core/arrival.h"
#include "core/integers.h"
#include "core/processor.h"

namespace ascend_grad {
namespace {

// Fewer bytes are moved before a second thread has started (measured with `bench --suite scaling`).
constexpr int64_t kMinBytesPerThread = 128 * 1024;

std::atomic<int> g_limit{0};
std::atomic<bool> g_lost_workers{false};

int openmp_limit() {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

// libgomp's worker threads do not exist in a forked child, and it would wait for them: the child
// works alone.
struct ForkGuard {
    ForkGuard() {
        pthread_atfork(nullptr, nullptr,
                       [] { g_lost_workers.store(true, std::memory_order_relaxed); });
    }
};
const ForkGuard g_fork_guard;
const int g_initial_openmp_limit = openmp_limit();

// Gives a thread the default floating point environment while it lives: another library may have
// switched on flushing of subnormals, which would change results.
class DefaultFloatEnvironment {
  public:
#if defined(__x86_64__)
    DefaultFloatEnvironment() : saved_(_mm_getcsr()) {
        if ((saved_ & kControlBits) != kDefaultControl) _mm_setcsr(kDefaultControl);
    }
    ~DefaultFloatEnvironment() {
        if ((saved_ & kControlBits) != kDefaultControl) _mm_setcsr(saved_);
    }

  private:
    static constexpr unsigned kControlBits = 0xffc0, kDefaultControl = 0x1f80;
    unsigned saved_;
#elif defined(__aarch64__)
    DefaultFloatEnvironment() {
        asm volatile("mrs %0, fpcr" : "=r"(saved_));
        if (saved_ != 0) asm volatile("msr fpcr, %0" ::"r"(uint64_t{0}));
    }
    ~DefaultFloatEnvironment() {
        if (saved_ != 0) asm volatile("msr fpcr, %0" ::"r"(saved_));
    }

  private:
    uint64_t saved_;
#endif
};

#ifdef _OPENMP
// The processor's counter, read in a few cycles: a clock of the standard library takes 2 us where
// work has emptied the near caches (measured). And about 100 us of it, in which no runtime that
// lets idle threads spin lets them sleep; on x86, whose rate is not known, 40 to 200. A wrong
// answer costs time only.
#if defined(__x86_64__)
uint64_t ticks() {
    return __rdtsc();
}
uint64_t ticks_awake() {
    return 200 * 1000;
}
#else
uint64_t ticks() {
    uint64_t count;
    asm volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
}
uint64_t ticks_awake() {
    uint64_t per_second;
    asm volatile("mrs %0, cntfrq_el0" : "=r"(per_second));
    return per_second / 10000;
}
#endif

// The calling thread's team. It has as many members whatever work it is for: libgomp ends those
// that it is not asked for and starts new ones for the next larger team.
struct Team {
    int members = 1;
    uint64_t last_use = 0;  // ticks
};
thread_local Team t_team;

// Not inlined: compilers call OpenMP at the start of a function that holds a parallel region, and
// some runtimes allocate memory at a thread's first call, which work of one thread must not.
[[gnu::noinline]] void run_team(int64_t count, int threads, RangeFunction function,
                                const void* context) {
    const int members = std::max(threads, std::min(t_team.members, thread_limit()));
    std::optional<Arrival> arrival;
    const bool awake = members <= t_team.members && ticks() - t_team.last_use < ticks_awake();
    if (!awake) arrival.emplace();
#pragma omp parallel num_threads(members)
    {
        const int64_t workers = std::min(threads, omp_get_num_threads());
        const int64_t member = omp_get_thread_num();
        if (arrival && member == 0) arrival->wait(static_cast<int>(workers) - 1);
        if (arrival && member > 0 && member < workers) arrival->arrive();
        const int64_t begin = share_begin(count, workers, member);
        const int64_t end = share_begin(count, workers, member + 1);
        const DefaultFloatEnvironment environment;
        if (member < workers) function(context, begin, end);
    }
    t_team = {members, ticks()};
}
#endif

}  // namespace

bool has_openmp() {
#ifdef _OPENMP
    return true;
#else
    return false;
#endif
}

int thread_limit() {
    const int openmp = openmp_limit();
    const int limit = g_limit.load(std::memory_order_relaxed);
    if (!has_openmp() || limit == 0) return openmp;
    return openmp != g_initial_openmp_limit ? std::min(limit, openmp) : limit;
}

void set_thread_limit(int count) {
    g_limit.store(count, std::memory_order_relaxed);
}

int thread_setting() {
    return g_limit.load(std::memory_order_relaxed);
}

int threads_for_written_runs(int64_t bytes, int64_t call_bytes) {
    if (call_bytes > processor().near_bytes) return kAnyThreads;
    const int64_t parts = bytes / std::max<int64_t>(1, processor().written_part_bytes);
    return static_cast<int>(std::clamp<int64_t>(parts, 1, kAnyThreads));
}

int threads_for(int64_t bytes) {
    if (bytes < 2 * kMinBytesPerThread || g_lost_workers.load(std::memory_order_relaxed)) return 1;
    return static_cast<int>(std::min<int64_t>(thread_limit(), bytes / kMinBytesPerThread));
}

bool are_even(int64_t tasks, int threads, double uneven) {
    return static_cast<double>(round_up(tasks, threads)) <= uneven * static_cast<double>(tasks);
}

void parallel_for(int64_t count, int threads, RangeFunction function, const void* context) {
    if (count <= 0) return;
    threads = static_cast<int>(std::min<int64_t>(threads, count));
#ifdef _OPENMP
    if (threads > 1) return run_team(count, threads, function, context);
#endif
    const DefaultFloatEnvironment environment;
    function(context, 0, count);
}

}  // namespace ascend_grad
