// The aclnn functions on kernels: two phases, arrays of ints, executors that are used up.
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
    EXPECT(aclrtDestroyStream(stream) == 0);
    EXPECT(aclrtResetDevice(0) == 0);
    return aclFinalize();
}
