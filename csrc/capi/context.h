// Contexts, and the device that they belong to.
#pragma once

#include <atomic>

#include "capi/error.h"
#include "capi/stream.h"

namespace ascend_grad::capi {

inline constexpr int kSysParamOpts = 2;

struct Context {
    explicit Context(bool is_default);
    ~Context();
    const bool is_default;                                              // the device's own
    const std::shared_ptr<Stream> stream = std::make_shared<Stream>();  // that a null handle names
    std::atomic<int64_t> sys_param_opts[kSysParamOpts] = {};

  private:
    void* const stream_handle_;
};

HandleTable<Context>& contexts();

// What aclInit and aclnnInit have done to the process.
struct Initialisation {
    std::atomic<bool> acl{false};
    std::atomic<bool> aclnn{false};
    explicit operator bool() const { return acl || aclnn; }
};
Initialisation& initialisation();
aclError require_initialised(const char* function);

// Fails unless the library is initialised and the id is that of the one device.
aclError check_device(const char* function, int32_t id);

// One more and one less user of the default context; the last use ends it.
void retain_default_context();
void release_default_context(bool drop_work);

// For this thread; null returns to the default context.
void set_current_context(aclrtContext handle);
aclrtContext current_context_handle();

// These fail for a library that is not initialised, a thread without a context, and an unknown
// handle.
aclError current_context(const char* function, std::shared_ptr<Context>& context);
// A null handle is the current context's default stream.
aclError find_stream(const char* function, const char* parameter, aclrtStream handle,
                     std::shared_ptr<Stream>& stream);
aclError find_event(const char* function, const char* parameter, aclrtEvent handle,
                    std::shared_ptr<Event>& event);

// Fails where `object`, which was found or removed by its handle, is null.
template <class T>
aclError require_live(const char* function, const char* parameter, const HandleTable<T>& table,
                      const void* handle, const std::shared_ptr<T>& object) {
    if (object != nullptr) return ACL_SUCCESS;
    if (handle == nullptr) return fail_null(function, parameter);
    return fail(ACL_ERROR_RT_INVALID_HANDLE, function, parameter, table.refuse(handle));
}
// Fails where a stream did not take a task or dropped it: another thread destroyed it after it was
// found.
aclError require_kept(const char* function, bool is_kept);

// Milliseconds, -1 for none; anything below is refused.
aclError make_deadline(const char* function, int32_t timeout, Deadline& deadline);

#define ACL_TRY(expression)                     \
    do {                                        \
        const aclError code_ = (expression);    \
        if (code_ != ACL_SUCCESS) return code_; \
    } while (0)

}  // namespace ascend_grad::capi
