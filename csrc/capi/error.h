// How calls fail: a code for the caller, and its reason for aclGetRecentErrMsg.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "aclnn/acl_meta.h"
#include "core/status.h"

namespace ascend_grad::capi {

// Each keeps the message for this thread and returns the code. `text`: the rule, what was given,
// what is allowed.
int report(const Status& status);
aclError fail(aclError code, const char* function, const char* parameter, const std::string& text);
int report_exception(int code, const char* function, const char* what) noexcept;
// After a failed step in the runtime: ACLNN_ERR_RUNTIME_ERROR, with that step's message before it.
aclnnStatus fail_in_runtime();
// A required pointer that is null: ACL_ERROR_INVALID_PARAM.
aclError fail_null(const char* function, const char* parameter);

// The calling thread's last message; null when it had none.
const char* recent_message();

// What is returned where memory runs out or the library itself fails.
struct Codes {
    int out_of_memory;
    int internal;
};
inline constexpr Codes kAclCodes{ACL_ERROR_BAD_ALLOC, ACL_ERROR_INTERNAL_ERROR};
inline constexpr Codes kAclnnCodes{static_cast<int>(StatusCode::kInner),
                                   static_cast<int>(StatusCode::kInner)};

// A stream's thread cannot be started: as where memory runs out.
struct NoThread : std::bad_alloc {
    const char* what() const noexcept override {
        return "a thread could not be started: the system gives no more threads, or has no memory "
               "for its stack";
    }
};

// Runs body(function), which returns a code, for a function of the C interface: no exception leaves
// it.
template <class Body>
int guarded(const char* function, const Codes& codes, const Body& body) noexcept {
    try {
        return body(function);
    } catch (const NoThread& error) {
        return report_exception(codes.out_of_memory, function, error.what());
    } catch (const std::bad_alloc&) {
        return report_exception(codes.out_of_memory, function, "out of memory");
    } catch (const std::exception& error) {
        return report_exception(codes.internal, function, error.what());
    } catch (...) {
        return report_exception(codes.internal, function, "unknown failure");
    }
}

}  // namespace ascend_grad::capi
