#include "capi/error.h"

#include <cstdio>

#include "core/log.h"

namespace ascend_grad::capi {
namespace {

// A plain buffer: nothing needs to be destroyed when a thread ends.
thread_local char g_message[2048];

int keep(int code, const char* message) {
    std::snprintf(g_message, sizeof(g_message), "%s", message);
    if (log_is_debug()) log_line(message);
    return code;
}

const char* code_name(int code) {
    switch (code) {
#define CODE(name) \
    case name:     \
        return #name
        CODE(ACL_ERROR_INVALID_PARAM);
        CODE(ACL_ERROR_UNINITIALIZE);
        CODE(ACL_ERROR_REPEAT_INITIALIZE);
        CODE(ACL_ERROR_INVALID_FILE);
        CODE(ACL_ERROR_PARSE_FILE);
        CODE(ACL_ERROR_REPEAT_FINALIZE);
        CODE(ACL_ERROR_RT_PARAM_INVALID);
        CODE(ACL_ERROR_RT_INVALID_DEVICEID);
        CODE(ACL_ERROR_RT_CONTEXT_NULL);
        CODE(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
        CODE(ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL);
        CODE(ACL_ERROR_RT_INVALID_HANDLE);
        CODE(ACL_ERROR_RT_MEMORY_ALLOCATION);
        CODE(ACL_ERROR_RT_MEMORY_FREE);
        CODE(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
        CODE(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
        CODE(ACL_ERROR_BAD_ALLOC);
        CODE(ACL_ERROR_INTERNAL_ERROR);
#undef CODE
        default:
            return status_code_name(static_cast<StatusCode>(code));
    }
}

}  // namespace

int report(const Status& status) {
    if (status.ok()) return static_cast<int>(StatusCode::kSuccess);
    return keep(static_cast<int>(status.code()), status.message().c_str());
}

aclError fail(aclError code, const char* function, const char* parameter, const std::string& text) {
    return keep(code, message_text(function, parameter, text, code_name(code), code).c_str());
}

aclnnStatus fail_in_runtime() {
    return report({StatusCode::kRuntimeError, g_message, "", "nothing was queued"});
}

aclError fail_null(const char* function, const char* parameter) {
    return fail(ACL_ERROR_INVALID_PARAM, function, parameter, required_text(Interface::kC));
}

int report_exception(int code, const char* function, const char* what) noexcept {
    std::snprintf(g_message, sizeof(g_message), "%s: %s [%s, %d]", function, what, code_name(code),
                  code);
    return code;
}

const char* recent_message() {
    return g_message[0] == '\0' ? nullptr : g_message;
}

}  // namespace ascend_grad::capi
