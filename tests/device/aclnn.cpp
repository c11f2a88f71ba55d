// The C interfaces on kernels: two phases, arrays of ints, executors that are used up, misuse.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "acl/acl.h"
#include "ascend_grad/device.h"
#include "ascend_grad/device_aclnn.h"

#define EXPECT(condition)                                                   \
    do {                                                                    \
        if (!(condition)) {                                                 \
            std::fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, \
                         ascendGradErrorMessage());                         \
            std::exit(1);                                                   \
        }                                                                   \
    } while (0)

namespace {

struct Array {
    void* data = nullptr;
    size_t bytes = sizeof(float);
    aclTensor* tensor = nullptr;

    Array(const std::vector<int64_t>& shape, const std::vector<float>& values) {
        for (int64_t extent : shape) bytes *= static_cast<size_t>(extent);
        EXPECT(aclrtMalloc(&data, bytes, ACL_MEM_MALLOC_HUGE_FIRST) == 0);
        if (!values.empty())
            EXPECT(aclrtMemcpy(data, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE) == 0);
        tensor = aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, nullptr, 0, ACL_FORMAT_NCHW,
                                 shape.data(), shape.size(), data);
    }
    ~Array() {
        aclDestroyTensor(tensor);
        aclrtFree(data);
    }
    std::vector<float> read() const {
        std::vector<float> values(bytes / sizeof(float));
        EXPECT(aclrtMemcpy(values.data(), bytes, data, bytes, ACL_MEMCPY_DEVICE_TO_HOST) == 0);
        return values;
    }
};

void softmax(aclrtStream stream) {
    const Array g({2, 3}, {1, 0, 0, 0, 4, 2}), y({2, 3}, {.25f, .25f, .5f, .5f, .5f, 0});
    const Array out({2, 3}, {});
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT(aclnnAscendGradSoftmaxBackwardGetWorkspaceSize(g.tensor, y.tensor, 1, out.tensor, &size,
                                                          &executor) == 0);
    void* workspace = nullptr;
    if (size > 0) EXPECT(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST) == 0);
    EXPECT(aclnnAscendGradSoftmaxBackward(workspace, size, executor, stream) == 0);
    EXPECT(aclrtSynchronizeStream(stream) == 0);
    EXPECT((out.read() == std::vector<float>{.1875f, -.0625f, -.125f, -1, 1, 0}));
    if (workspace != nullptr) aclrtFree(workspace);
    // It ran, and runs no more.
    EXPECT(aclnnAscendGradSoftmaxBackward(nullptr, 0, executor, stream) == 161001);
    EXPECT(aclnnAscendGradSoftmaxBackwardGetWorkspaceSize(g.tensor, y.tensor, 2, out.tensor, &size,
                                                          &executor) == 161002);
    EXPECT(aclnnAscendGradSoftmaxBackwardGetWorkspaceSize(g.tensor, nullptr, 1, out.tensor, &size,
                                                          &executor) == 161001);
}

void pooling(aclrtStream stream) {
    const Array g({1, 1, 2, 2}, {4, 8, 12, 16}), result({1, 1, 4, 4}, {});
    const int64_t two[] = {2, 2}, zero[] = {0, 0};
    aclIntArray* const kernel = aclCreateIntArray(two, 2);
    aclIntArray* const padding = aclCreateIntArray(zero, 2);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT(aclnnAscendGradAvgPool2dBackwardGetWorkspaceSize(g.tensor, result.tensor, kernel, kernel,
                                                            padding, false, true, 0, 1,
                                                            result.tensor, &size, &executor) == 0);
    void* workspace = nullptr;
    if (size > 0) EXPECT(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST) == 0);
    EXPECT(aclnnAscendGradAvgPool2dBackward(workspace, size, executor, stream) == 0);
    EXPECT(aclrtSynchronizeStream(stream) == 0);
    EXPECT((result.read() == std::vector<float>{1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4}));
    if (workspace != nullptr) aclrtFree(workspace);
    aclDestroyIntArray(kernel);
    aclDestroyIntArray(padding);
}

// Messages show the extents for which there is space.
void nine_dimensions(aclrtStream stream) {
    const std::vector<int64_t> shape{1, 2, 3, 1, 1, 1, 1, 1, 4};
    const Array x(shape, {});
    const auto is_shown = [] {
        return std::strstr(ascendGradErrorMessage(), "(1, 2, 3, 1, 1, 1, 1, 1, ...)") != nullptr;
    };
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT(aclnnAscendGradSoftmaxBackwardGetWorkspaceSize(x.tensor, x.tensor, 1, x.tensor, &size,
                                                          &executor) == 161002);
    EXPECT(is_shown());
    const AscendGradTensor view = {x.data, ACL_FLOAT, 9, shape.data(), nullptr};
    EXPECT(ascendGradSoftmaxBackward(&view, &view, 1, &view, stream) == 161002);
    EXPECT(is_shown());
    const AscendGradTensor no_rank = {x.data, ACL_FLOAT, INT32_MAX, shape.data(), nullptr};
    EXPECT(ascendGradSoftmaxBackward(&no_rank, &no_rank, 1, &no_rank, stream) == 161002);
}

aclnnStatus plan_softmax(aclTensor* g, aclTensor* out, aclOpExecutor*& executor) {
    uint64_t size = 0;
    return aclnnAscendGradSoftmaxBackwardGetWorkspaceSize(g, g, 1, out, &size, &executor);
}

// An executor that runs nowhere; one of another operator stays.
void executors(aclrtStream stream) {
    const Array g({2, 3}, {}), out({2, 3}, {});
    aclOpExecutor* executor = nullptr;
    EXPECT(plan_softmax(g.tensor, out.tensor, executor) == 0);
    EXPECT(aclnnAscendGradPreluBackward(nullptr, 0, executor, stream) == 161002);
    EXPECT(aclnnAscendGradDestroyExecutor(executor) == 0);
    EXPECT(aclnnAscendGradDestroyExecutor(executor) == 161001);
    EXPECT(aclnnAscendGradDestroyExecutor(nullptr) == 161001);
    EXPECT(aclnnAscendGradSoftmaxBackward(nullptr, 0, executor, stream) == 161001);
    EXPECT(aclnnAscendGradSoftmaxBackwardGetWorkspaceSize(g.tensor, g.tensor, 1, out.tensor,
                                                          nullptr, &executor) == 161001);
    EXPECT(std::strstr(ascendGradErrorMessage(), "workspaceSize") != nullptr);
}

void workspaces(aclrtStream stream) {
    const Array g({4, 64}, {}), out({4, 64}, {});
    const int64_t shape[] = {2, 3}, strides[] = {64, 2};  // no kernel reads every second element
    aclTensor* const sparse =
        aclCreateTensor(shape, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, shape, 2, g.data);
    aclOpExecutor* executor = nullptr;
    uint64_t size = 0;
    // It leaves the storage of its shape.
    EXPECT(plan_softmax(sparse, out.tensor, executor) == 161002);
    aclDestroyTensor(sparse);
    const int64_t storage[] = {4, 64};
    aclTensor* const inside =
        aclCreateTensor(shape, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, storage, 2, g.data);
    aclTensor* const result =
        aclCreateTensor(shape, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, storage, 2, out.data);
    for (const bool is_missing : {true, false}) {
        EXPECT(aclnnAscendGradSoftmaxBackwardGetWorkspaceSize(inside, inside, 1, result, &size,
                                                              &executor) == 0);
        EXPECT(size > 1);
        void* const given = is_missing ? nullptr : out.data;
        EXPECT(aclnnAscendGradSoftmaxBackward(given, is_missing ? size : 1, executor, stream) ==
               (is_missing ? 161001 : 161002));
    }
    for (const int64_t offset : {int64_t{-4}, int64_t{1000}, INT64_MAX}) {
        aclTensor* const outside = aclCreateTensor(shape, 2, ACL_FLOAT, nullptr, offset,
                                                   ACL_FORMAT_ND, storage, 2, g.data);
        EXPECT(plan_softmax(outside, result, executor) == 161002);
        aclDestroyTensor(outside);
    }
    aclDestroyTensor(inside);
    aclDestroyTensor(result);
}

// Tensors that cannot be, or that have no memory when the kernels run.
void tensors_that_make_no_sense(aclrtStream stream) {
    const Array x({2, 3}, {}), channels({3}, {1, 1, 1}), sums({3}, {}), more({3}, {});
    const int64_t shape[] = {2, 3}, one[] = {3}, huge[] = {INT64_MAX, INT64_MAX};
    const int64_t far[] = {INT64_MAX / 8, 1}, large[] = {int64_t{1} << 40, 8};
    const AscendGradTensor good = {x.data, ACL_FLOAT, 2, shape, nullptr};
    const auto code = [&](const AscendGradTensor& given) {
        const int32_t as_input = ascendGradSoftmaxBackward(&given, &good, 1, &good, stream);
        EXPECT(as_input == ascendGradSoftmaxBackward(&good, &good, 1, &given, stream));
        return as_input;
    };
    EXPECT(code({nullptr, ACL_FLOAT, 2, shape, nullptr}) == 161001);
    EXPECT(code({x.data, ACL_FLOAT, 2, nullptr, nullptr}) == 161002);
    EXPECT(code({x.data, ACL_FLOAT, -3, shape, nullptr}) == 161002);
    EXPECT(code({x.data, ACL_FLOAT, 2, huge, nullptr}) == 161002);
    EXPECT(code({x.data, ACL_FLOAT, 2, shape, far}) == 161002);
    const AscendGradTensor immense = {x.data, ACL_FLOAT, 2, large, nullptr};
    EXPECT(ascendGradSoftmaxBackward(&immense, &immense, 1, &immense, stream) != 0);

    // What is not wanted is not looked at.
    const AscendGradTensor vector = {channels.data, ACL_FLOAT, 1, one, nullptr};
    const AscendGradTensor sum = {sums.data, ACL_FLOAT, 1, one, nullptr};
    const AscendGradTensor sum_xmu = {more.data, ACL_FLOAT, 1, one, nullptr};
    const auto* const nothing = reinterpret_cast<const AscendGradTensor*>(0x10);
    auto* const no_tensor = reinterpret_cast<aclTensor*>(0x10);
    const auto in_one_call = [&](const AscendGradTensor* unwanted) {
        return ascendGradBatchNormReduceBackward(&good, &good, &vector, &vector, nullptr, true,
                                                 false, false, &sum, &sum_xmu, unwanted, unwanted,
                                                 stream);
    };
    const int32_t has_operator = in_one_call(nullptr);  // not every product has it
    EXPECT(has_operator == 0 || has_operator == 561003);
    EXPECT(in_one_call(nothing) == has_operator);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT(aclnnAscendGradBatchNormReduceBackwardGetWorkspaceSize(
               x.tensor, x.tensor, channels.tensor, channels.tensor, nullptr, true, false, false,
               sums.tensor, more.tensor, no_tensor, no_tensor, &size, &executor) == has_operator);
    EXPECT(has_operator != 0 || aclnnAscendGradDestroyExecutor(executor) == 0);
    EXPECT(aclrtSynchronizeStream(stream) == 0);
}

// Of streams that come and go.
void workspaces_are_not_kept_for_ever() {
    const Array g({32, 8192}, {}), out({8192, 32}, {});
    const int64_t shape[] = {8192, 32}, strides[] = {1, 8192};
    const AscendGradTensor turned = {g.data, ACL_FLOAT, 2, shape, strides};
    const AscendGradTensor result = {out.data, ACL_FLOAT, 2, shape, nullptr};
    const auto resident = [] {  // pages
        long all = 0, own = 0;
        FILE* const file = std::fopen("/proc/self/statm", "r");
        EXPECT(file != nullptr && std::fscanf(file, "%ld %ld", &all, &own) == 2);
        std::fclose(file);
        return own;
    };
    long before = 0;
    for (int i = 0; i < 100; ++i) {
        aclrtStream stream = nullptr;
        EXPECT(aclrtCreateStream(&stream) == 0);
        EXPECT(ascendGradSoftmaxBackward(&turned, &turned, 1, &result, stream) == 0);
        EXPECT(aclrtSynchronizeStream(stream) == 0);
        EXPECT(aclrtDestroyStream(stream) == 0);
        if (i == 50) before = resident();
    }
    // Those of fifty streams are a megabyte each.
    EXPECT(resident() < before + (long{32} << 20) / 4096);
}

}  // namespace

int main() {
    EXPECT(aclInit(nullptr) == 0);
    EXPECT(aclrtSetDevice(0) == 0);
    aclrtStream stream = nullptr;
    EXPECT(aclrtCreateStream(&stream) == 0);
    softmax(stream);
    pooling(stream);
    nine_dimensions(stream);
    executors(stream);
    workspaces(stream);
    tensors_that_make_no_sense(stream);
    workspaces_are_not_kept_for_ever();
    EXPECT(aclrtDestroyStream(stream) == 0);
    EXPECT(aclrtResetDevice(0) == 0);
    return aclFinalize();
}
