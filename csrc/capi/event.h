// Events: places in streams that others can wait for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>

#include "capi/handles.h"

namespace ascend_grad::capi {

using Clock = std::chrono::steady_clock;

// One lock for all streams and events.
std::mutex& queue_mutex();

// All members but the constants are guarded by queue_mutex().
class Event {
  public:
    // keeps_time: records a time when it completes. waits_for_first: a stream that waits for it
    // before it was recorded waits for the next record.
    Event(bool keeps_time, bool waits_for_first);
    ~Event();

    const bool keeps_time;
    const bool waits_for_first;

    bool is_recorded() const { return queued > forgotten; }
    bool is_complete() const { return is_recorded() && completed >= queued; }
    // The record that a wait queued now waits for.
    uint64_t awaited_record() const {
        return is_recorded() ? queued : waits_for_first ? queued + 1 : 0;
    }
    void complete(uint64_t record);
    // Lets go who waits for the record, which was reached or will never be.
    void release(uint64_t record);
    // Lets go all that wait for it.
    void retire() { release(UINT64_MAX); }
    // In a forked child: nothing that was queued will come.
    void restart();

    uint64_t queued = 0;     // records so far
    uint64_t completed = 0;  // the latest that was reached
    uint64_t released = 0;   // the latest that nobody waits for: reached, or dropped by its stream
    uint64_t forgotten = 0;  // by reset
    Clock::time_point time;
    std::condition_variable changed;
};

HandleTable<Event>& events();

}  // namespace ascend_grad::capi
