// Phase 2 allocates nothing: not in the caller's thread, nor in the stream's.
#include <dlfcn.h>
#include <sys/mman.h>

#include <atomic>
#include <functional>

#include "acl_test.h"

static std::atomic<long> g_allocations{0};

template <class Function>
static Function next(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// Visible, so that the library calls these.
#pragma GCC visibility push(default)
// operator new ends in malloc, too.
extern "C" void* malloc(size_t size) {
    static const auto real = next<void* (*)(size_t)>("malloc");
    ++g_allocations;
    return real(size);
}

extern "C" void* realloc(void* memory, size_t size) {
    static const auto real = next<void* (*)(void*, size_t)>("realloc");
    ++g_allocations;
    return real(memory, size);
}

extern "C" void* aligned_alloc(size_t alignment, size_t size) {
    static const auto real = next<void* (*)(size_t, size_t)>("aligned_alloc");
    ++g_allocations;
    return real(alignment, size);
}

extern "C" int posix_memalign(void** memory, size_t alignment, size_t size) {
    static const auto real = next<int (*)(void**, size_t, size_t)>("posix_memalign");
    ++g_allocations;
    return real(memory, alignment, size);
}

extern "C" void* mmap(void* address, size_t size, int protection, int flags, int file,
                      off_t offset) {
    static const auto real = next<void* (*)(void*, size_t, int, int, int, off_t)>("mmap");
    ++g_allocations;
    return real(address, size, protection, flags, file, offset);
}
#pragma GCC visibility pop

static aclrtStream stream;
static uint64_t size;
static aclOpExecutor* executor;

// Repeated runs of the executor, also at other addresses. `warm_up`: runs that may start OpenMP's
// threads.
static void expect_no_allocation(RunFunction run, int warm_up, const std::function<void()>& move) {
    void* workspace = nullptr;
    CHECK_OK(aclSetAclOpExecutorRepeatable(executor));
    if (size > 0) CHECK_OK(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < 6; ++i) {
        if (i == 3) move();
        const long before = g_allocations;
        CHECK_OK(run(workspace, size, executor, stream));
        CHECK_OK(aclrtSynchronizeStream(stream));
        const long during = g_allocations - before;
        if (during != 0 && i >= warm_up) std::fprintf(stderr, "%ld allocations\n", during);
        CHECK(during == 0 || i < warm_up);
    }
    CHECK_OK(aclDestroyAclOpExecutor(executor));
    if (workspace != nullptr) CHECK_OK(aclrtFree(workspace));
}

static void all_operators(const Shape& shape, int warm_up, bool takes_workspace) {
    const Shape channels = {shape[1]};
    Tensor grad(shape, values_like(shape, 1), ACL_FORMAT_NCHW),
        data(shape, values_like(shape, 2), ACL_FORMAT_NCHW), out(shape, {}, ACL_FORMAT_NCHW),
        other(shape);
    Tensor vector(channels, values_like(channels, 3)), sums(channels), products(channels);
    const auto move_to_other = [&](aclTensor* tensor, size_t index) {
        return [&other, tensor, index] {
            CHECK_OK(aclSetOutputTensorAddr(executor, index, tensor, other.memory()));
        };
    };
    CHECK_OK(aclnnPreluBackwardGetWorkspaceSize(grad, data, vector, out, sums, &size, &executor));
    CHECK((size > 0) == takes_workspace);
    expect_no_allocation(aclnnPreluBackward, warm_up, move_to_other(out, 0));
    CHECK_OK(aclnnSoftmaxBackwardGetWorkspaceSize(grad, data, 1, out, &size, &executor));
    CHECK_OK(aclSetRawTensorAddr(out, out.memory()));
    expect_no_allocation(aclnnSoftmaxBackward, warm_up, move_to_other(out, 0));
    CHECK_OK(aclSetRawTensorAddr(out, out.memory()));
    CHECK_OK(aclnnBatchNormReduceBackwardGetWorkspaceSize(grad, data, vector, vector, nullptr, true,
                                                          false, false, sums, products, nullptr,
                                                          nullptr, &size, &executor));
    expect_no_allocation(aclnnBatchNormReduceBackward, warm_up, move_to_other(products, 1));
    const int64_t one = 1, zero = 0;
    aclIntArray *kernel = aclCreateIntArray(&one, 1), *padding = aclCreateIntArray(&zero, 1);
    CHECK_OK(aclnnAvgPool2dBackwardGetWorkspaceSize(grad, data, kernel, kernel, padding, false,
                                                    true, 0, 0, out, &size, &executor));
    expect_no_allocation(aclnnAvgPool2dBackward, warm_up, move_to_other(out, 0));
    CHECK_OK(aclDestroyIntArray(kernel));
    CHECK_OK(aclDestroyIntArray(padding));
}

int main() {
    start();
    CHECK_OK(aclrtCreateStream(&stream));
    all_operators({4, 3, 5, 10}, 0, false);
    all_operators({8, 16, 64, 65}, 1, true);  // by several threads
    const long before = g_allocations;
    void* volatile probe = std::malloc(1);  // volatile: a compiler may leave it out otherwise
    CHECK(probe != nullptr && g_allocations == before + 1);  // the counter counts
    std::free(probe);
    CHECK_OK(aclrtMalloc(const_cast<void**>(&probe), 1, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(g_allocations > before + 2);
    CHECK_OK(aclrtFree(probe));
    CHECK_OK(aclrtDestroyStream(stream));
    stop();
}
