// What must be an error and never a crash.
#include "acl_test.h"

static const Shape kShape = {2, 3};
static aclrtStream stream;
static uint64_t size = 0;
static aclOpExecutor* executor = nullptr;

static int prepare(const aclTensor* grad, const aclTensor* output, aclTensor* out) {
    size = 0x5a5a;
    executor = reinterpret_cast<aclOpExecutor*>(0x5a5a);
    const int status = aclnnSoftmaxBackwardGetWorkspaceSize(grad, output, 1, out, &size, &executor);
    if (status != 0) CHECK(size == 0x5a5a && executor == reinterpret_cast<aclOpExecutor*>(0x5a5a));
    return status;
}

static void handles() {
    Tensor grad(kShape, values_like(kShape, 1)), output(kShape, values_like(kShape, 2)),
        out(kShape);
    CHECK_FAILS(ACLNN_ERR_PARAM_NULLPTR, prepare(nullptr, output, out), "aclnnSoftmaxBackward",
                "gradOutput", "null");
    CHECK_FAILS(ACLNN_ERR_PARAM_NULLPTR, prepare(grad, output, nullptr), "out", "null");
    CHECK_FAILS(ACLNN_ERR_PARAM_NULLPTR,
                aclnnSoftmaxBackwardGetWorkspaceSize(grad, output, 1, out, nullptr, &executor),
                "workspaceSize");
    CHECK_FAILS(ACLNN_ERR_PARAM_NULLPTR,
                aclnnSoftmaxBackwardGetWorkspaceSize(grad, output, 1, out, &size, nullptr),
                "executor");
    aclTensor* destroyed;
    {
        Tensor temporary(kShape);
        destroyed = temporary;
    }
    CHECK_FAILS(ACLNN_ERR_PARAM_NULLPTR, prepare(grad, destroyed, out), "output",
                "aclTensor that was destroyed");
    CHECK_FAILS(ACLNN_ERR_PARAM_NULLPTR, aclDestroyTensor(destroyed), "tensor", "destroyed");
    int anything = 0;
    CHECK_FAILS(ACLNN_ERR_PARAM_NULLPTR,
                prepare(reinterpret_cast<aclTensor*>(&anything), output, out), "gradOutput",
                "never");
    aclIntArray* array = aclCreateIntArray(kShape.data(), 2);
    CHECK_FAILS(ACLNN_ERR_PARAM_NULLPTR, prepare(reinterpret_cast<aclTensor*>(array), output, out),
                "an aclIntArray");
    CHECK_FAILS(ACLNN_ERR_PARAM_NULLPTR, aclDestroyTensor(reinterpret_cast<aclTensor*>(array)),
                "an aclIntArray");
    CHECK_OK(aclDestroyIntArray(array));
    CHECK_FAILS(ACLNN_ERR_PARAM_NULLPTR, aclDestroyIntArray(array), "array", "destroyed");
    CHECK_OK(aclDestroyTensor(nullptr));
    CHECK_OK(aclDestroyIntArray(nullptr));

    // Counts that were negative before they became unsigned.
    const uint64_t negative = static_cast<uint64_t>(-1);
    const aclTensor* tensors[] = {grad};
    CHECK(aclCreateIntArray(kShape.data(), negative) == nullptr);
    check_words(ACLNN_ERR_PARAM_INVALID, {"aclCreateIntArray: size", "got 18446744073709551615"},
                __LINE__);
    CHECK(aclCreateTensorList(tensors, negative) == nullptr);
    CHECK(message().find("aclCreateTensorList: size") == 0);
    CHECK(aclCreateTensor(kShape.data(), negative, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND,
                          kShape.data(), 2, nullptr) == nullptr);
    CHECK(message().find("viewDims") != std::string::npos);
}

static void executors() {
    Tensor grad(kShape, values_like(kShape, 1)), output(kShape, values_like(kShape, 2)),
        out(kShape);
    CHECK_FAILS(ACLNN_ERR_PARAM_NULLPTR, aclnnSoftmaxBackward(nullptr, 0, nullptr, stream),
                "executor", "null");
    CHECK_OK(prepare(grad, output, out));
    run_and_wait(aclnnSoftmaxBackward, size, executor, stream);
    CHECK_FAILS(ACLNN_ERR_PARAM_NULLPTR, aclnnSoftmaxBackward(nullptr, 0, executor, stream),
                "executor", "used up");
    CHECK_FAILS(ACLNN_ERR_INNER_NULLPTR, aclDestroyAclOpExecutor(executor), "executor", "used up");
    CHECK_FAILS(ACLNN_ERR_INNER_NULLPTR, aclSetAclOpExecutorRepeatable(executor), "executor");
    CHECK_FAILS(ACLNN_ERR_INNER_NULLPTR, aclSetAclOpExecutorRepeatable(nullptr), "executor",
                "null");
    CHECK_OK(prepare(grad, output, out));
    CHECK_FAILS(ACLNN_ERR_PARAM_INVALID, aclnnPreluBackward(nullptr, 0, executor, stream),
                "aclnnPreluBackward", "aclnnSoftmaxBackward");
    CHECK_OK(aclDestroyAclOpExecutor(executor));
    CHECK_OK(prepare(grad, output, out));
    CHECK_OK(aclrtSynchronizeStream(stream));
    aclrtStream destroyed;
    CHECK_OK(aclrtCreateStream(&destroyed));
    CHECK_OK(aclrtDestroyStream(destroyed));
    CHECK_FAILS(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(destroyed), "stream",
                "destroyed");
    CHECK_FAILS(ACLNN_ERR_RUNTIME_ERROR, aclnnSoftmaxBackward(nullptr, 0, executor, destroyed),
                "aclnnSoftmaxBackward: stream:", "destroyed", "107017", "ACLNN_ERR_RUNTIME_ERROR");
}

static void workspaces() {
    // Few long rows: sums of their parts are kept in the workspace.
    const Shape shape = {1, 1 << 17};
    Tensor grad(shape, values_like(shape, 1)), output(shape, values_like(shape, 2)), out(shape);
    const auto fails = [&](int status, auto workspace_of, uint64_t missing, const char* word) {
        CHECK_OK(prepare(grad, output, out));
        CHECK(size > 0);
        CHECK_FAILS(status, aclnnSoftmaxBackward(workspace_of(), size - missing, executor, stream),
                    "workspace", word);
        CHECK_FAILS(ACLNN_ERR_PARAM_NULLPTR, aclnnSoftmaxBackward(nullptr, 0, executor, stream),
                    "executor");
    };
    CHECK_OK(prepare(grad, output, out));
    void* workspace = nullptr;
    CHECK_OK(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclDestroyAclOpExecutor(executor));
    fails(
        ACLNN_ERR_PARAM_NULLPTR, [] { return nullptr; }, 0, "null");
    fails(
        ACLNN_ERR_PARAM_NULLPTR, [] { return nullptr; }, size, "null");
    fails(
        ACLNN_ERR_PARAM_INVALID, [&] { return workspace; }, 1, "must have");
    fails(
        ACLNN_ERR_PARAM_INVALID, [&] { return static_cast<char*>(workspace) + 1; }, 0, "must have");
    fails(
        ACLNN_ERR_PARAM_INVALID, [] { return reinterpret_cast<void*>(UINTPTR_MAX - 64); }, 0,
        "process's memory");
    fails(
        ACLNN_ERR_PARAM_INVALID, [] { return reinterpret_cast<void*>(0x1000); }, 0,
        "process's memory");
    fails(
        ACLNN_ERR_PARAM_INVALID, [&] { return out.memory(); }, 0, "overlap");
    fails(
        ACLNN_ERR_PARAM_INVALID, [&] { return grad.memory(); }, 0, "gradOutput");
    CHECK(out.get() == std::vector<float>(1 << 17, Tensor::kGap));
    CHECK_OK(aclrtFree(workspace));
    // Any alignment will do, and nothing beside the workspace is written.
    CHECK_OK(prepare(grad, output, out));
    std::vector<unsigned char> unaligned(size + 2, 0x33);
    CHECK_OK(aclnnSoftmaxBackward(unaligned.data() + 1, size, executor, stream));
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK(unaligned.front() == 0x33 && unaligned.back() == 0x33);
    CHECK_CLOSE(out.get(),
                softmax_reference(values_like(shape, 1), values_like(shape, 2), 1 << 17));
    CHECK_OK(prepare(Tensor(kShape), Tensor(kShape), Tensor(kShape)));
    CHECK_OK(aclDestroyAclOpExecutor(executor));
}

static aclTensor* view(const Shape& shape, const Shape& strides, int64_t offset,
                       const Shape& storage, void* memory) {
    return aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, strides.data(), offset,
                           ACL_FORMAT_ND, storage.data(), storage.size(), memory);
}

static void views() {
    Tensor memory({100});
    Tensor output(kShape, values_like(kShape, 2)), out(kShape), twelve({3, 4}), six({6});
    const int64_t large = int64_t{1} << 62;
    const struct {
        Shape shape, strides;
        int64_t offset;
        Shape storage;
        const char* word;
    } rows[] = {
        {{2, 3}, {3, 1}, 1, {6}, "storage of 6 elements, but shape (2, 3) with strides (12, 4)"},
        {{2, 3}, {3, 1}, 1, {6}, "bytes and an offset of 1 elements leaves it"},
        {{2, 3}, {4, 1}, 0, {6}, "storage"},
        {{2, 3}, {3, 1}, 0, {}, "storage"},
        {{2, 3}, {3, 1}, 0, {-6}, "storage"},
        {{2, 3}, {3, -1}, 2, {6}, "strides"},
        {{2, 3}, {3, 1}, -1, {6}, "offset must not be negative, got -1"},
        {{2, 3}, {large, 1}, 0, {large}, "63 bits"},
        {{2, 3}, {3, large}, 0, {6}, "63 bits"},
        {{2, 3}, {3, 1}, large, {large}, "63 bits"},
        {{2, 3}, {3, 1}, INT64_MAX, {6}, "63 bits"},
        {{2, 3}, {3, 1}, 0, {large, large}, "63 bits"},
        {{2, 3}, {3, 1}, 0, {INT64_MAX, 2}, "63 bits"},
        {{2, 3}, {30, 30}, 20, {1000}, "inside memory"},
    };
    for (const auto& row : rows) {
        aclTensor* grad = view(row.shape, row.strides, row.offset, row.storage, memory.memory());
        CHECK_FAILS(ACLNN_ERR_PARAM_INVALID, prepare(grad, output, out), "gradOutput", row.word);
        CHECK_OK(aclDestroyTensor(grad));
    }
    for (const Shape& shape :
         {Shape{-2, 3}, Shape{2, -3}, Shape{large, large}, Shape{INT64_MIN, INT64_MIN}}) {
        aclTensor* grad = view(shape, {3, 1}, 0, {6}, memory.memory());
        CHECK_STATUS(ACLNN_ERR_PARAM_INVALID, prepare(grad, output, out));
        aclTensor* result = view(shape, {3, 1}, 0, {6}, nullptr);
        CHECK_FAILS(ACLNN_ERR_PARAM_INVALID, prepare(grad, grad, result), "gradOutput");
        CHECK_OK(aclDestroyTensor(result));
        CHECK_OK(aclDestroyTensor(grad));
    }
    const struct {
        Shape strides;
        int64_t offset;
        const char* word;
    } outputs[] = {{{0, 1}, 50, "itself"},
                   {{2, 1}, 50, "itself"},
                   {{3, 1}, 1, "gradOutput"},
                   {{1, 2}, 0, "gradOutput"}};
    aclTensor* grad = view(kShape, {3, 1}, 0, {100}, memory.memory());
    for (const auto& row : outputs) {
        aclTensor* result = view(kShape, row.strides, row.offset, {100}, memory.memory());
        CHECK_FAILS(ACLNN_ERR_PARAM_INVALID, prepare(grad, output, result), "out", "overlap",
                    row.word);
        CHECK_OK(aclDestroyTensor(result));
    }
    // One output over another.
    const Shape three = {3};
    Tensor mean(three), invstd(three);
    aclTensor* first = view({3}, {1}, 0, {100}, memory.memory());
    aclTensor* second = view({3}, {1}, 2, {100}, memory.memory());
    CHECK_FAILS(ACLNN_ERR_PARAM_INVALID,
                aclnnBatchNormReduceBackwardGetWorkspaceSize(output, out, mean, invstd, nullptr,
                                                             true, false, false, first, second,
                                                             nullptr, nullptr, &size, &executor),
                "sumDyXmu", "sumDy");
    for (aclTensor* tensor : {grad, first, second}) CHECK_OK(aclDestroyTensor(tensor));

    CHECK(aclCreateTensor(nullptr, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, kShape.data(), 2,
                          nullptr) == nullptr);
    CHECK(message().find("viewDims") != std::string::npos);
    CHECK(aclCreateTensor(kShape.data(), 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 1,
                          nullptr) == nullptr);
    const Shape ones(26, 1);
    CHECK(aclCreateTensor(ones.data(), 26, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, ones.data(), 1,
                          nullptr) == nullptr);
    aclTensor* deep = aclCreateTensor(ones.data(), 25, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND,
                                      ones.data(), 1, nullptr);
    CHECK_FAILS(ACLNN_ERR_PARAM_INVALID, prepare(deep, deep, deep), "gradOutput", "25");
    CHECK_OK(aclDestroyTensor(deep));
}

static void memory() {
    void* block = nullptr;
    CHECK_FAILS(ACL_ERROR_INVALID_PARAM, aclrtMalloc(nullptr, 8, ACL_MEM_MALLOC_HUGE_FIRST),
                "devPtr", "null");
    CHECK_FAILS(ACL_ERROR_INVALID_PARAM, aclrtMalloc(&block, 0, ACL_MEM_MALLOC_HUGE_FIRST), "size",
                "0");
    CHECK_FAILS(ACL_ERROR_RT_MEMORY_ALLOCATION,
                aclrtMalloc(&block, SIZE_MAX, ACL_MEM_MALLOC_HUGE_FIRST), "size", "memory");
    CHECK_FAILS(ACL_ERROR_RT_MEMORY_ALLOCATION,
                aclrtMalloc(&block, SIZE_MAX / 2, ACL_MEM_MALLOC_HUGE_FIRST), "size");
    CHECK(block == nullptr);
    CHECK_OK(aclrtMalloc(&block, 100, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(reinterpret_cast<uintptr_t>(block) % 64 == 0);
    char* bytes = static_cast<char*>(block);
    char host[200] = {};
    CHECK_FAILS(ACL_ERROR_RT_PARAM_INVALID,
                aclrtMemcpy(bytes, 200, host, 101, ACL_MEMCPY_HOST_TO_DEVICE), "dst", "100");
    CHECK_FAILS(ACL_ERROR_RT_PARAM_INVALID,
                aclrtMemcpy(host, 200, bytes + 90, 11, ACL_MEMCPY_DEVICE_TO_HOST), "src", "100");
    CHECK_FAILS(ACL_ERROR_RT_PARAM_INVALID,
                aclrtMemcpy(bytes, 9, host, 10, ACL_MEMCPY_HOST_TO_DEVICE), "count", "destMax");
    CHECK_FAILS(ACL_ERROR_INVALID_PARAM,
                aclrtMemcpy(nullptr, 9, host, 9, ACL_MEMCPY_HOST_TO_DEVICE), "dst");
    CHECK_FAILS(ACL_ERROR_INVALID_PARAM,
                aclrtMemcpy(bytes, 9, nullptr, 9, ACL_MEMCPY_HOST_TO_DEVICE), "src");
    CHECK_FAILS(ACL_ERROR_INVALID_PARAM,
                aclrtMemcpy(bytes, 9, host, 9, static_cast<aclrtMemcpyKind>(6)), "kind", "6");
    CHECK_OK(aclrtMemcpy(nullptr, 0, nullptr, 0, static_cast<aclrtMemcpyKind>(99)));
    CHECK_FAILS(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(bytes, 200, 0, 101), "devPtr", "100");
    CHECK_FAILS(ACL_ERROR_INVALID_PARAM, aclrtMemset(nullptr, 200, 0, 1), "devPtr");
    CHECK_FAILS(ACL_ERROR_RT_PARAM_INVALID, aclrtMemsetAsync(bytes, 5, 0, 6, stream), "count");
    CHECK_FAILS(ACL_ERROR_RT_PARAM_INVALID,
                aclrtMemcpyAsync(bytes + 1, 100, host, 100, ACL_MEMCPY_DEFAULT, stream), "dst");
    CHECK_FAILS(ACL_ERROR_RT_PARAM_INVALID,
                aclrtMemcpy2d(bytes, 30, host, 50, 20, 4, ACL_MEMCPY_DEFAULT), "dst", "100");
    CHECK_FAILS(ACL_ERROR_RT_PARAM_INVALID,
                aclrtMemcpy2d(bytes, 10, host, 50, 20, 4, ACL_MEMCPY_DEFAULT), "dpitch", "10");
    CHECK_FAILS(ACL_ERROR_RT_PARAM_INVALID,
                aclrtMemcpy2d(host, SIZE_MAX, bytes, 20, 20, 4, ACL_MEMCPY_DEFAULT), "dpitch");
    std::memcpy(host, "abcdefghijklmnop", 16);
    CHECK_OK(aclrtMemset(bytes, 100, '.', 100));
    CHECK_OK(aclrtMemcpy2dAsync(bytes, 5, host, 4, 3, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK(std::memcmp(bytes, "abc..efg..ijk..mno.", 19) == 0);

    CHECK_FAILS(ACL_ERROR_INVALID_PARAM, aclrtFree(nullptr), "devPtr", "null");
    CHECK_FAILS(ACL_ERROR_RT_MEMORY_FREE, aclrtFree(host), "devPtr", "never allocated");
    CHECK_FAILS(ACL_ERROR_RT_MEMORY_FREE, aclrtFree(bytes + 8), "8 bytes inside");
    CHECK_FAILS(ACL_ERROR_RT_MEMORY_FREE, aclrtFreeHost(block), "hostPtr", "aclrtMalloc");
    CHECK_OK(aclrtFree(block));
    CHECK_FAILS(ACL_ERROR_RT_MEMORY_FREE, aclrtFree(block), "freed before");
    CHECK_OK(aclrtMallocHost(&block, 10));
    CHECK_OK(aclrtFreeHost(block));
    size_t free = 0, total = 0;
    CHECK_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
    CHECK(0 < free && free <= total);

    // Memory that was freed between the phases, whatever its size.
    Tensor grad(kShape, values_like(kShape, 1)), output(kShape, values_like(kShape, 2));
    for (const size_t size : {size_t{24}, size_t{1} << 20}) {  // that stay and do not
        CHECK_OK(aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST));
        aclTensor* out = view(kShape, {3, 1}, 0, {6}, block);
        CHECK_OK(prepare(grad, output, out));
        CHECK_OK(aclrtFree(block));
        CHECK_FAILS(ACLNN_ERR_PARAM_INVALID, aclnnSoftmaxBackward(nullptr, 0, executor, stream),
                    "out", "freed");
        if (size == 24) {
            CHECK_FAILS(ACLNN_ERR_PARAM_INVALID, prepare(grad, output, out), "out", "freed");
            CHECK_FAILS(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(block, 24, 0, 24), "devPtr",
                        "freed");
        }
        CHECK_OK(aclDestroyTensor(out));
    }

    // Addresses that are nobody's.
    void* const nowhere = reinterpret_cast<void*>(0x1000);
    for (const int64_t offset : {0, 5}) {
        aclTensor* lost = view(kShape, {3, 1}, offset, {11}, nowhere);
        CHECK_FAILS(ACLNN_ERR_PARAM_INVALID, prepare(grad, output, lost), "out", "allocated");
        CHECK_FAILS(ACLNN_ERR_PARAM_INVALID, prepare(lost, output, grad), "gradOutput");
        CHECK_OK(aclDestroyTensor(lost));
    }
    CHECK_FAILS(ACL_ERROR_RT_PARAM_INVALID,
                aclrtMemcpy(nowhere, 9, host, 9, ACL_MEMCPY_HOST_TO_HOST), "dst", "never");
    CHECK_FAILS(ACL_ERROR_RT_PARAM_INVALID,
                aclrtMemcpyAsync(host, 9, nowhere, 9, ACL_MEMCPY_DEFAULT, stream), "src", "never");
    CHECK_FAILS(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(nowhere, SIZE_MAX, 0, SIZE_MAX), "devPtr");
    // A stack that was not used so deep is not mapped there, and yet is memory.
    char unused[4 << 20];
    CHECK_OK(aclrtMemset(unused, sizeof(unused), 1, 100));
    CHECK(unused[99] == 1);
}

static void runtime() {
    aclrtEvent event;
    CHECK_OK(aclrtCreateEvent(&event));
    CHECK_FAILS(ACL_ERROR_RT_INVALID_HANDLE, aclrtRecordEvent(event, event), "stream",
                "an aclrtEvent");
    CHECK_FAILS(ACL_ERROR_RT_INVALID_HANDLE, aclrtRecordEvent(stream, stream), "event",
                "an aclrtStream");
    CHECK_OK(aclrtDestroyEvent(event));
    CHECK_FAILS(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyEvent(event), "event", "destroyed");
    CHECK_FAILS(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeEvent(event), "event");
    CHECK_FAILS(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamWaitEvent(stream, event), "event");
    CHECK_FAILS(ACL_ERROR_INVALID_PARAM, aclrtDestroyEvent(nullptr), "event", "null");
    CHECK_FAILS(ACL_ERROR_INVALID_PARAM, aclrtDestroyStream(nullptr), "stream", "null");
    CHECK_FAILS(ACL_ERROR_INVALID_PARAM, aclrtCreateStream(nullptr), "stream", "null");
    CHECK_FAILS(ACL_ERROR_RT_PARAM_INVALID, aclrtCreateStreamWithConfig(&stream, 0, 8), "flag",
                "8");
    CHECK_FAILS(ACL_ERROR_INVALID_PARAM, aclrtDestroyContext(nullptr), "context");
    CHECK_FAILS(ACL_ERROR_INVALID_PARAM, aclrtSetCurrentContext(nullptr), "context");
    aclrtContext context, current;
    CHECK_OK(aclrtGetCurrentContext(&current));
    CHECK_FAILS(ACL_ERROR_INVALID_PARAM, aclrtDestroyContext(current), "aclrtResetDevice");
    CHECK_FAILS(ACL_ERROR_RT_INVALID_DEVICEID, aclrtCreateContext(&context, 1), "deviceId", "1");
    CHECK_OK(aclrtCreateContext(&context, 0));
    CHECK_OK(aclrtDestroyContext(context));
    CHECK_FAILS(ACL_ERROR_RT_INVALID_HANDLE, aclrtSetCurrentContext(context), "context",
                "destroyed");
    CHECK_FAILS(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyContext(context), "context", "destroyed");
    CHECK_FAILS(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(1), "deviceId", "1");
    CHECK_FAILS(ACL_ERROR_RT_INVALID_DEVICEID, aclrtResetDevice(-1), "deviceId", "-1");
    int64_t value = -1;
    CHECK_FAILS(ACL_ERROR_INVALID_PARAM, aclrtCtxSetSysParamOpt(static_cast<aclSysParamOpt>(5), 1),
                "opt", "5");
    CHECK_FAILS(ACL_ERROR_INVALID_PARAM, aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 2), "value",
                "2");
    CHECK_OK(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
    CHECK_OK(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    CHECK(value == 1);
    CHECK_OK(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    CHECK(value == 0);
}

int main() {
    start();
    CHECK_OK(aclrtCreateStream(&stream));
    handles();
    executors();
    workspaces();
    views();
    memory();
    runtime();
    CHECK_OK(aclrtDestroyStream(stream));
    stop();
}
