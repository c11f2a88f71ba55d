#include "core/arrival.h"

#include <sched.h>

#include <chrono>
#include <thread>

#include "core/spin_time.h"

namespace ascend_grad {
namespace {

using Clock = std::chrono::steady_clock;

// Whoever comes later than that may be waiting for this processor: yielding does not make the
// scheduler run it here, sleeping does.
constexpr std::chrono::microseconds kSleepTime{1};

void move_to(int processor, const cpu_set_t& allowed) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(processor, &only);
    if (sched_setaffinity(0, sizeof only, &only) == 0) {
        sched_setaffinity(0, sizeof allowed, &allowed);
    }
}

}  // namespace

Arrival::Arrival() : first_(sched_getcpu()) {
    claim(first_);
}

void Arrival::arrive() {
    settle();
    arrived_.fetch_add(1, std::memory_order_relaxed);
}

void Arrival::wait(int others) {
    const Clock::time_point end = Clock::now() + kSpinTime;
    while (arrived_.load(std::memory_order_relaxed) < others) {
        if (Clock::now() > end) std::this_thread::sleep_for(kSleepTime);
    }
    // Meanwhile the scheduler may have moved it to where one of them went.
    if (sched_getcpu() == first_) return;
    release(first_);
    settle();
}

void Arrival::settle() {
    const int processor = sched_getcpu();
    cpu_set_t allowed;
    if (claim(processor) || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    for (int i = 1; i < kProcessors; ++i) {
        const int next = (processor + i) % kProcessors;
        if (CPU_ISSET(next, &allowed) && claim(next)) return move_to(next, allowed);
    }
}

// Whether nobody has it yet. Any number may have one that is unknown.
bool Arrival::claim(int processor) {
    static_assert(kProcessors == CPU_SETSIZE);
    if (processor < 0 || processor >= kProcessors) return true;
    return !claimed_[processor].exchange(true, std::memory_order_relaxed);
}
void Arrival::release(int processor) {
    if (processor >= 0 && processor < kProcessors)
        claimed_[processor].store(false, std::memory_order_relaxed);
}

}  // namespace ascend_grad
