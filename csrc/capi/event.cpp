#include "capi/event.h"

#include <algorithm>
#include <new>
#include <vector>

namespace ascend_grad::capi {
namespace {

std::vector<Event*>& all_events() {
    static auto* const instance = [] {
        on_fork_in_child([] {
            for (Event* event : all_events()) event->restart();
        });
        return new std::vector<Event*>;
    }();
    return *instance;
}

}  // namespace

std::mutex& queue_mutex() {
    static std::mutex* const instance = make_fork_safe_mutex();
    return *instance;
}

HandleTable<Event>& events() {
    static auto* const instance = new HandleTable<Event>(HandleKind::kEvent);
    return *instance;
}

Event::Event(bool keeps_time, bool waits_for_first)
    : keeps_time(keeps_time), waits_for_first(waits_for_first) {
    std::vector<Event*>& all = all_events();
    const std::lock_guard<std::mutex> lock(queue_mutex());
    all.push_back(this);
}

Event::~Event() {
    const std::lock_guard<std::mutex> lock(queue_mutex());
    std::vector<Event*>& all = all_events();
    all.erase(std::find(all.begin(), all.end(), this));
}

void Event::complete(uint64_t record) {
    completed = std::max(completed, record);
    time = Clock::now();
    changed.notify_all();
}

void Event::retire() {
    completed = UINT64_MAX;
    changed.notify_all();
}

void Event::restart() {
    completed = queued;
    new (&changed)
        std::condition_variable;  // waiters of the parent are still counted in the old one
}

}  // namespace ascend_grad::capi
