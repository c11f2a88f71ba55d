#include "acl/acl_rt.h"
#include "capi/context.h"
#include "capi/raw_value.h"

using namespace ascend_grad;
using namespace ascend_grad::capi;

namespace {

// For threads and contexts alike; see aclrtSetSysParamOpt.
std::atomic<int64_t> g_sys_param_opts[kSysParamOpts];

aclError find_context(const char* function, aclrtContext handle,
                      std::shared_ptr<Context>& context) {
    ACL_TRY(require_initialised(function));
    context = contexts().find(handle);
    return require_live(function, "context", contexts(), handle, context);
}

aclError check_opt(const char* function, int32_t index) {
    if (index >= 0 && index < kSysParamOpts) return ACL_SUCCESS;
    return fail(ACL_ERROR_INVALID_PARAM, function, "opt",
                "must be ACL_OPT_DETERMINISTIC or ACL_OPT_ENABLE_DEBUG_KERNEL, got " +
                    std::to_string(index));
}

int set_opt(const char* function, std::atomic<int64_t>* opts, int32_t opt, int64_t value) {
    ACL_TRY(check_opt(function, opt));
    if (value != 0 && value != 1) {
        return fail(ACL_ERROR_INVALID_PARAM, function, "value",
                    "must be 0 or 1, got " + std::to_string(value));
    }
    opts[opt] = value;
    return ACL_SUCCESS;
}

int get_opt(const char* function, const std::atomic<int64_t>* opts, int32_t opt, int64_t* value) {
    ACL_TRY(check_opt(function, opt));
    if (value == nullptr) return fail_null(function, "value");
    *value = opts[opt];
    return ACL_SUCCESS;
}

}  // namespace

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        if (context == nullptr) return fail_null(function, "context");
        ACL_TRY(check_device(function, deviceId));
        *context = contexts().insert(std::make_shared<Context>(false));
        set_current_context(*context);
        return ACL_SUCCESS;
    });
}

aclError aclrtDestroyContext(aclrtContext context) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        std::shared_ptr<Context> found = contexts().find(context);
        if (found != nullptr && found->is_default) {
            return fail(
                ACL_ERROR_INVALID_PARAM, function, "context",
                "must be one of aclrtCreateContext; the device's own ends with aclrtResetDevice");
        }
        found = contexts().remove(context);
        ACL_TRY(require_live(function, "context", contexts(), context, found));
        found->stream->close(false);
        return ACL_SUCCESS;
    });
}

aclError aclrtSetCurrentContext(aclrtContext context) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        std::shared_ptr<Context> found;
        ACL_TRY(find_context(function, context, found));
        set_current_context(context);
        return ACL_SUCCESS;
    });
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        if (context == nullptr) return fail_null(function, "context");
        std::shared_ptr<Context> found;
        ACL_TRY(current_context(function, found));
        *context = current_context_handle();
        return ACL_SUCCESS;
    });
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        std::shared_ptr<Context> context;
        ACL_TRY(current_context(function, context));
        return set_opt(function, context->sys_param_opts, raw_value(opt), value);
    });
}

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        std::shared_ptr<Context> context;
        ACL_TRY(current_context(function, context));
        return get_opt(function, context->sys_param_opts, raw_value(opt), value);
    });
}

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        ACL_TRY(require_initialised(function));
        return set_opt(function, g_sys_param_opts, raw_value(opt), value);
    });
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        ACL_TRY(require_initialised(function));
        return get_opt(function, g_sys_param_opts, raw_value(opt), value);
    });
}
