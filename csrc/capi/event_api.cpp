#include "acl/acl_rt.h"
#include "capi/context.h"

using namespace ascend_grad;
using namespace ascend_grad::capi;

namespace {

constexpr uint32_t kAllFlags =
    ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | ACL_EVENT_TIME_LINE;

int create_event(const char* function, aclrtEvent* event, uint32_t flag, bool waits_for_first) {
    if (event == nullptr) return fail_null(function, "event");
    std::shared_ptr<Context> context;
    ACL_TRY(current_context(function, context));
    if (flag == 0 || (flag & ~kAllFlags) != 0) {
        return fail(ACL_ERROR_RT_PARAM_INVALID, function, "flag",
                    "must be made of ACL_EVENT_SYNC, ACL_EVENT_CAPTURE_STREAM_PROGRESS and "
                    "ACL_EVENT_TIME_LINE, got " +
                        std::to_string(flag));
    }
    *event = events().insert(
        std::make_shared<Event>((flag & ACL_EVENT_TIME_LINE) != 0, waits_for_first));
    return ACL_SUCCESS;
}

int synchronize_event(const char* function, aclrtEvent handle, int32_t timeout) {
    std::shared_ptr<Event> event;
    Deadline deadline;
    ACL_TRY(find_event(function, "event", handle, event));
    ACL_TRY(make_deadline(function, timeout, deadline));
    std::unique_lock<std::mutex> lock(queue_mutex());
    const bool is_recorded = event->is_recorded();
    const uint64_t record = event->queued;
    const auto finished = [&] { return event->released >= record; };
    bool in_time = true;
    if (is_recorded && deadline) {
        in_time = event->changed.wait_until(lock, *deadline, finished);
    } else if (is_recorded) {
        event->changed.wait(lock, finished);
    }
    const bool is_reached = event->completed >= record;
    lock.unlock();
    if (!is_recorded)
        return fail(ACL_ERROR_RT_PARAM_INVALID, function, "event", "must have been recorded");
    if (is_reached) return ACL_SUCCESS;
    if (in_time) {
        return fail(ACL_ERROR_RT_INVALID_HANDLE, function, "event",
                    "must live until it is reached, as must the stream that it was recorded in, "
                    "but one of them was destroyed before");
    }
    return fail(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, function, "timeout",
                "the event was not reached after " + std::to_string(timeout) + " ms");
}

// The time of a completed event.
aclError read_time(const char* function, const char* parameter, aclrtEvent handle,
                   Clock::time_point& time) {
    std::shared_ptr<Event> event;
    ACL_TRY(find_event(function, parameter, handle, event));
    if (!event->keeps_time) {
        return fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, function, parameter,
                    "must keep times: made without flags or with ACL_EVENT_TIME_LINE");
    }
    bool is_complete;
    {
        const std::lock_guard<std::mutex> lock(queue_mutex());
        is_complete = event->is_complete();
        time = event->time;
    }
    if (is_complete) return ACL_SUCCESS;
    return fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, function, parameter,
                "must be recorded and complete");
}

// Whether the event is complete.
aclError query(const char* function, aclrtEvent handle, bool& is_complete) {
    std::shared_ptr<Event> event;
    ACL_TRY(find_event(function, "event", handle, event));
    const std::lock_guard<std::mutex> lock(queue_mutex());
    is_complete = event->is_complete();
    return ACL_SUCCESS;
}

}  // namespace

aclError aclrtCreateEvent(aclrtEvent* event) {
    return guarded(__func__, kAclCodes, [&](const char* function) {
        return create_event(function, event, kAllFlags, true);
    });
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
    return guarded(__func__, kAclCodes,
                   [&](const char* function) { return create_event(function, event, flag, true); });
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) {
    return guarded(__func__, kAclCodes, [&](const char* function) {
        return create_event(function, event, flag, false);
    });
}

aclError aclrtDestroyEvent(aclrtEvent event) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        const std::shared_ptr<Event> found = events().remove(event);
        ACL_TRY(require_live(function, "event", events(), event, found));
        const std::lock_guard<std::mutex> lock(queue_mutex());
        found->retire();
        return ACL_SUCCESS;
    });
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        std::shared_ptr<Event> recorded;
        std::shared_ptr<Stream> found;
        ACL_TRY(find_event(function, "event", event, recorded));
        ACL_TRY(find_stream(function, "stream", stream, found));
        return require_kept(function, found->record(recorded));
    });
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        std::shared_ptr<Event> found;
        std::shared_ptr<Stream> in_order;
        ACL_TRY(find_event(function, "event", event, found));
        ACL_TRY(find_stream(function, "stream", stream, in_order));
        const std::lock_guard<std::mutex> lock(queue_mutex());
        found->forgotten = found->queued;
        return ACL_SUCCESS;
    });
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        if (status == nullptr) return fail_null(function, "status");
        bool is_complete = false;
        ACL_TRY(query(function, event, is_complete));
        *status = is_complete ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
        return ACL_SUCCESS;
    });
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        if (status == nullptr) return fail_null(function, "status");
        bool is_complete = false;
        ACL_TRY(query(function, event, is_complete));
        *status =
            is_complete ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
        return ACL_SUCCESS;
    });
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
    return guarded(__func__, kAclCodes,
                   [&](const char* function) { return synchronize_event(function, event, -1); });
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
    return guarded(__func__, kAclCodes, [&](const char* function) {
        return synchronize_event(function, event, timeout);
    });
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        if (ms == nullptr) return fail_null(function, "ms");
        Clock::time_point start, end;
        ACL_TRY(read_time(function, "startEvent", startEvent, start));
        ACL_TRY(read_time(function, "endEvent", endEvent, end));
        if (end < start) {
            return fail(ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL, function, "endEvent",
                        "came before startEvent");
        }
        *ms = std::chrono::duration<float, std::milli>(end - start).count();
        return ACL_SUCCESS;
    });
}
