#include "capi/event.h"

#include <algorithm>
#include <new>
#include <vector>

namespace ascend_grad::capi {
namespace {

auto& g_queue_mutex = *make_fork_safe_mutex();
auto& g_events = *new HandleTable<Event>(HandleKind::kEvent);
auto& g_all_events = *new std::vector<Event*>;  // guarded by queue_mutex()
const OnForkInChild g_restart_events([] {
    for (Event* event : g_all_events) event->restart();
});

}  // namespace

std::mutex& queue_mutex() {
    return g_queue_mutex;
}

HandleTable<Event>& events() {
    return g_events;
}

Event::Event(bool keeps_time, bool waits_for_first)
    : keeps_time(keeps_time), waits_for_first(waits_for_first) {
    const std::lock_guard<std::mutex> lock(queue_mutex());
    g_all_events.push_back(this);
}

Event::~Event() {
    const std::lock_guard<std::mutex> lock(queue_mutex());
    g_all_events.erase(std::find(g_all_events.begin(), g_all_events.end(), this));
}

void Event::complete(uint64_t record) {
    completed = std::max(completed, record);
    time = Clock::now();
    release(record);
}

void Event::release(uint64_t record) {
    released = std::max(released, record);
    changed.notify_all();
}

void Event::restart() {
    completed = released = queued;
    new (&changed)
        std::condition_variable;  // waiters of the parent are still counted in the old one
}

}  // namespace ascend_grad::capi
