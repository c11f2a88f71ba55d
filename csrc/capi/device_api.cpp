#include "acl/acl_rt.h"
#include "capi/context.h"

using namespace ascend_grad;
using namespace ascend_grad::capi;

namespace {

int reset_device(const char* function, int32_t id, bool drop_work) {
    ACL_TRY(check_device(function, id));
    release_default_context(drop_work);
    return ACL_SUCCESS;
}

int synchronize_device(const char* function, int32_t timeout) {
    std::shared_ptr<Context> context;
    Deadline deadline;
    ACL_TRY(current_context(function, context));
    ACL_TRY(make_deadline(function, timeout, deadline));
    const Outcome outcome = synchronize_all(deadline);
    if (outcome != Outcome::kTimedOut) return require_kept(function, outcome == Outcome::kDone);
    return fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, function, "timeout",
                "some stream was still at work after " + std::to_string(timeout) + " ms");
}

}  // namespace

aclError aclrtSetDevice(int32_t deviceId) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        ACL_TRY(check_device(function, deviceId));
        retain_default_context();
        set_current_context(nullptr);
        return ACL_SUCCESS;
    });
}

aclError aclrtResetDevice(int32_t deviceId) {
    return guarded(__func__, kAclCodes,
                   [&](const char* function) { return reset_device(function, deviceId, false); });
}

aclError aclrtResetDeviceForce(int32_t deviceId) {
    return guarded(__func__, kAclCodes,
                   [&](const char* function) { return reset_device(function, deviceId, true); });
}

aclError aclrtGetDevice(int32_t* deviceId) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        if (deviceId == nullptr) return fail_null(function, "deviceId");
        std::shared_ptr<Context> context;
        ACL_TRY(current_context(function, context));
        *deviceId = 0;
        return ACL_SUCCESS;
    });
}

aclError aclrtGetDeviceCount(uint32_t* count) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        if (count == nullptr) return fail_null(function, "count");
        ACL_TRY(require_initialised(function));
        *count = 1;
        return ACL_SUCCESS;
    });
}

aclError aclrtGetRunMode(aclrtRunMode* runMode) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        if (runMode == nullptr) return fail_null(function, "runMode");
        ACL_TRY(require_initialised(function));
        *runMode = ACL_HOST;
        return ACL_SUCCESS;
    });
}

aclError aclrtSynchronizeDevice() {
    return guarded(__func__, kAclCodes,
                   [](const char* function) { return synchronize_device(function, -1); });
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
    return guarded(__func__, kAclCodes,
                   [&](const char* function) { return synchronize_device(function, timeout); });
}
