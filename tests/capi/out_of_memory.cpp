// Wherever memory or threads run out, or the system fails in another way, a call fails with a
// status, leaves no exception and can be repeated.
#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "acl_test.h"

// Allocations of this thread until one fails, or that one and all after it; none fails below 0.
static thread_local long g_countdown = -1;
static thread_local bool g_all_fail = false;
static thread_local bool g_no_threads = false;
static thread_local bool g_no_locks = false;

template <class Function>
static Function next(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

static bool fails_now() {
    if (g_countdown < 0) return false;
    if (g_countdown == 0 && g_all_fail) return true;
    return g_countdown-- == 0;
}

// Visible, so that the library calls these.
#pragma GCC visibility push(default)
extern "C" void* malloc(size_t size) {
    static const auto real = next<void* (*)(size_t)>("malloc");
    return fails_now() ? nullptr : real(size);
}

extern "C" int posix_memalign(void** memory, size_t alignment, size_t size) {
    static const auto real = next<int (*)(void**, size_t, size_t)>("posix_memalign");
    return fails_now() ? ENOMEM : real(memory, alignment, size);
}

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*function)(void*), void* argument) {
    using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    static const auto real = next<Create>("pthread_create");
    return g_no_threads ? EAGAIN : real(thread, attributes, function, argument);
}

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) {
    static const auto real = next<int (*)(pthread_mutex_t*)>("pthread_mutex_lock");
    return g_no_locks ? EINVAL : real(mutex);
}
#pragma GCC visibility pop

// Makes the first allocation of `call` fail, then the second, ... until none is left to fail, each
// time alone and with all that follow it. Returns how many there are.
static long exhaust(const char* name, std::vector<int> codes, const std::function<int()>& call) {
    for (long count = 0;; ++count) {
        bool is_reached = false;
        for (const bool all : {false, true}) {
            g_all_fail = all;
            g_countdown = count;
            const int status = call();
            is_reached = g_countdown == (all ? 0 : -1);
            g_countdown = -1;
            if (status == 0) break;  // without memory that it can do without, or with all it needs
            CHECK(is_reached);
            if (std::find(codes.begin(), codes.end(), status) == codes.end()) {
                std::fprintf(stderr, "%s, allocation %ld: %d\n", name, count, status);
                CHECK_STATUS(codes[0], status);
            }
            check_words(status, {name}, __LINE__);
        }
        if (!is_reached) return count;
    }
}

static long exhaust_acl(const char* name, const std::function<int()>& call) {
    return exhaust(name, {ACL_ERROR_BAD_ALLOC, ACL_ERROR_RT_MEMORY_ALLOCATION}, call);
}

// For functions that return a handle: null is failure.
template <class Handle>
static Handle* exhaust_creation(const char* name, const std::function<Handle*()>& create) {
    Handle* handle = nullptr;
    const long count = exhaust(name, {ACLNN_ERR_INNER}, [&] {
        handle = create();
        return handle != nullptr ? ACLNN_SUCCESS : ACLNN_ERR_INNER;
    });
    CHECK(count > 0 && handle != nullptr);
    return handle;
}

int main() {
    const Shape shape = {2, 3};
    int64_t values[6] = {};
    aclTensor* const tensor = exhaust_creation<aclTensor>("aclCreateTensor", [&] {
        return aclCreateTensor(shape.data(), 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                               2, values);
    });
    aclIntArray* const array = exhaust_creation<aclIntArray>(
        "aclCreateIntArray", [&] { return aclCreateIntArray(values, 2); });
    aclTensorList* const list = exhaust_creation<aclTensorList>(
        "aclCreateTensorList", [&] { return aclCreateTensorList(&tensor, 1); });
    exhaust_acl("aclInit", [] { return aclInit(nullptr); });
    CHECK(exhaust_acl("aclrtSetDevice", [] { return aclrtSetDevice(0); }) > 0);

    aclrtStream stream = nullptr;
    aclrtEvent event = nullptr;
    aclrtContext context = nullptr;
    void* memory = nullptr;
    CHECK(exhaust_acl("aclrtCreateContext", [&] { return aclrtCreateContext(&context, 0); }) > 0);
    CHECK(exhaust_acl("aclrtCreateStream", [&] { return aclrtCreateStream(&stream); }) > 0);
    CHECK(exhaust_acl("aclrtCreateEvent", [&] { return aclrtCreateEvent(&event); }) > 0);
    CHECK(exhaust_acl("aclrtMalloc",
                      [&] { return aclrtMalloc(&memory, 24, ACL_MEM_MALLOC_HUGE_FIRST); }) > 0);
    CHECK(exhaust_acl("aclrtSynchronizeDevice", [] { return aclrtSynchronizeDevice(); }) > 0);

    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    Tensor out(shape);
    const auto prepare = [&] {
        return aclnnSoftmaxBackwardGetWorkspaceSize(tensor, tensor, 1, out, &size, &executor);
    };
    CHECK(exhaust("aclnnSoftmaxBackward", {ACLNN_ERR_INNER}, prepare) > 0);
    CHECK(size == 0);
    CHECK(exhaust("aclSetInputTensorAddr", {ACLNN_ERR_INNER},
                  [&] { return aclSetInputTensorAddr(executor, 0, tensor, values); }) > 0);
    // Queueing needs no memory at all; nor does the work.
    g_all_fail = true;
    g_countdown = 0;
    const int statuses[] = {aclnnSoftmaxBackward(nullptr, 0, executor, stream),
                            aclrtRecordEvent(event, stream),
                            aclrtStreamWaitEvent(stream, event),
                            aclrtMemsetAsync(memory, 24, 0, 24, stream),
                            aclrtSynchronizeStream(stream),
                            aclrtFree(memory),
                            aclrtDestroyEvent(event),
                            aclrtDestroyStream(stream),
                            aclrtDestroyContext(context),
                            aclDestroyTensorList(list),
                            aclDestroyIntArray(array)};
    g_countdown = -1;
    for (const int status : statuses) CHECK_STATUS(0, status);
    CHECK(out.get() == std::vector<float>(6));

    // A system without another thread to give.
    g_no_threads = true;
    CHECK_FAILS(ACL_ERROR_BAD_ALLOC, aclrtCreateStream(&stream), "aclrtCreateStream",
                "thread could not be started", "ACL_ERROR_BAD_ALLOC");
    CHECK_FAILS(ACL_ERROR_BAD_ALLOC, aclrtCreateContext(&context, 0), "aclrtCreateContext",
                "thread");
    g_no_threads = false;
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_OK(aclrtDestroyStream(stream));

    g_no_locks = true;
    const int status = aclrtSetDevice(0);
    g_no_locks = false;
    CHECK_FAILS(ACL_ERROR_INTERNAL_ERROR, status, "aclrtSetDevice", "ACL_ERROR_INTERNAL_ERROR");
    stop();
}
