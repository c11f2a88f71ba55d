#include "capi/context.h"

namespace ascend_grad::capi {
namespace {

struct DefaultContext {
    std::mutex* const mutex = make_fork_safe_mutex();
    int users = 0;
    aclrtContext handle = nullptr;
};

auto& g_default = *new DefaultContext;
auto& g_contexts = *new HandleTable<Context>(HandleKind::kContext);

thread_local aclrtContext g_current = nullptr;

}  // namespace

Context::Context(bool is_default)
    : is_default(is_default), stream_handle_(streams().insert(stream)) {}

Context::~Context() {
    streams().remove(stream_handle_);
}

HandleTable<Context>& contexts() {
    return g_contexts;
}

Initialisation& initialisation() {
    static Initialisation instance;
    return instance;
}

aclError require_initialised(const char* function) {
    if (initialisation()) return ACL_SUCCESS;
    return fail(ACL_ERROR_UNINITIALIZE, function, "", "aclInit or aclnnInit must be called first");
}

aclError check_device(const char* function, int32_t id) {
    ACL_TRY(require_initialised(function));
    if (id == 0) return ACL_SUCCESS;
    return fail(ACL_ERROR_RT_INVALID_DEVICEID, function, "deviceId",
                "must be 0, the only device, got " + std::to_string(id));
}

void retain_default_context() {
    const auto join = [](aclrtContext made) {
        const std::lock_guard<std::mutex> lock(*g_default.mutex);
        if (g_default.handle == nullptr) g_default.handle = made;
        if (g_default.handle != nullptr) ++g_default.users;
        return g_default.handle;
    };
    if (join(nullptr) != nullptr) return;
    const aclrtContext made = contexts().insert(std::make_shared<Context>(true));
    if (join(made) != made) contexts().remove(made);
}

void release_default_context(bool drop_work) {
    aclrtContext handle;
    {
        const std::lock_guard<std::mutex> lock(*g_default.mutex);
        if (g_default.users == 0 || --g_default.users > 0) return;
        handle = g_default.handle;
        g_default.handle = nullptr;
    }
    if (const std::shared_ptr<Context> context = contexts().remove(handle))
        context->stream->close(drop_work);
}

void set_current_context(aclrtContext handle) {
    g_current = handle;
}

aclrtContext current_context_handle() {
    if (g_current != nullptr && contexts().find(g_current) != nullptr) return g_current;
    const std::lock_guard<std::mutex> lock(*g_default.mutex);
    return g_default.handle;
}

aclError current_context(const char* function, std::shared_ptr<Context>& context) {
    ACL_TRY(require_initialised(function));
    context = contexts().find(current_context_handle());
    if (context != nullptr) return ACL_SUCCESS;
    return fail(ACL_ERROR_RT_CONTEXT_NULL, function, "",
                "this thread has no context: aclrtSetDevice or aclrtSetCurrentContext must be "
                "called first");
}

aclError find_stream(const char* function, const char* parameter, aclrtStream handle,
                     std::shared_ptr<Stream>& stream) {
    if (handle == nullptr) {
        std::shared_ptr<Context> context;
        ACL_TRY(current_context(function, context));
        stream = context->stream;
        return ACL_SUCCESS;
    }
    ACL_TRY(require_initialised(function));
    stream = streams().find(handle);
    return require_live(function, parameter, streams(), handle, stream);
}

aclError find_event(const char* function, const char* parameter, aclrtEvent handle,
                    std::shared_ptr<Event>& event) {
    ACL_TRY(require_initialised(function));
    event = events().find(handle);
    return require_live(function, parameter, events(), handle, event);
}

aclError require_kept(const char* function, bool is_kept) {
    if (is_kept) return ACL_SUCCESS;
    return fail(ACL_ERROR_RT_INVALID_HANDLE, function, "stream",
                "must live until the call returns, but was destroyed meanwhile");
}

aclError make_deadline(const char* function, int32_t timeout, Deadline& deadline) {
    if (timeout < -1) {
        return fail(ACL_ERROR_INVALID_PARAM, function, "timeout",
                    "must be milliseconds or -1 for no limit, got " + std::to_string(timeout));
    }
    if (timeout >= 0) deadline = Clock::now() + std::chrono::milliseconds(timeout);
    return ACL_SUCCESS;
}

}  // namespace ascend_grad::capi
