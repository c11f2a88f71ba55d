#include "acl/acl_rt.h"
#include "capi/context.h"

using namespace ascend_grad;
using namespace ascend_grad::capi;

namespace {

int create_stream(const char* function, aclrtStream* stream, uint32_t flag) {
    if (stream == nullptr) return fail_null(function, "stream");
    std::shared_ptr<Context> context;
    ACL_TRY(current_context(function, context));
    if ((flag & ~(ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC)) != 0) {
        return fail(ACL_ERROR_RT_PARAM_INVALID, function, "flag",
                    "must be made of ACL_STREAM_FAST_LAUNCH and ACL_STREAM_FAST_SYNC, got " +
                        std::to_string(flag));
    }
    *stream = streams().insert(std::make_shared<Stream>());
    return ACL_SUCCESS;
}

int destroy_stream(const char* function, aclrtStream handle, bool drop_work) {
    const std::shared_ptr<Stream> stream = streams().remove(handle);
    ACL_TRY(require_live(function, "stream", streams(), handle, stream));
    stream->close(drop_work);
    return ACL_SUCCESS;
}

int synchronize_stream(const char* function, aclrtStream handle, int32_t timeout) {
    std::shared_ptr<Stream> stream;
    Deadline deadline;
    ACL_TRY(find_stream(function, "stream", handle, stream));
    ACL_TRY(make_deadline(function, timeout, deadline));
    const Outcome outcome = stream->synchronize(deadline);
    if (outcome != Outcome::kTimedOut) return require_kept(function, outcome == Outcome::kDone);
    return fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, function, "timeout",
                "the stream was still at work after " + std::to_string(timeout) + " ms");
}

}  // namespace

aclError aclrtCreateStream(aclrtStream* stream) {
    return guarded(__func__, kAclCodes,
                   [&](const char* function) { return create_stream(function, stream, 0); });
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t, uint32_t flag) {
    return guarded(__func__, kAclCodes,
                   [&](const char* function) { return create_stream(function, stream, flag); });
}

aclError aclrtDestroyStream(aclrtStream stream) {
    return guarded(__func__, kAclCodes,
                   [&](const char* function) { return destroy_stream(function, stream, false); });
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
    return guarded(__func__, kAclCodes,
                   [&](const char* function) { return destroy_stream(function, stream, true); });
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
    return guarded(__func__, kAclCodes,
                   [&](const char* function) { return synchronize_stream(function, stream, -1); });
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
    return guarded(__func__, kAclCodes, [&](const char* function) {
        return synchronize_stream(function, stream, timeout);
    });
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        if (status == nullptr) return fail_null(function, "status");
        std::shared_ptr<Stream> found;
        ACL_TRY(find_stream(function, "stream", stream, found));
        *status = found->is_idle() ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
        return ACL_SUCCESS;
    });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        std::shared_ptr<Stream> waiting;
        std::shared_ptr<Event> awaited;
        ACL_TRY(find_stream(function, "stream", stream, waiting));
        ACL_TRY(find_event(function, "event", event, awaited));
        return require_kept(function, waiting->wait_for(awaited));
    });
}
