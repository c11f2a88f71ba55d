// Start and end of the interface, the product, and every status code that the operators have.
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

#include "acl_test.h"

static uint64_t size;
static aclOpExecutor* executor;

static int softmax(aclTensor* tensor, int64_t dim) {
    return aclnnSoftmaxBackwardGetWorkspaceSize(tensor, tensor, dim, tensor, &size, &executor);
}

static void before_start(aclTensor* tensor) {
    void* block = nullptr;
    aclrtStream stream = nullptr;
    aclrtContext context = nullptr;
    CHECK_FAILS(ACL_ERROR_UNINITIALIZE, aclFinalize(), "aclFinalize", "aclInit");
    CHECK_FAILS(ACL_ERROR_UNINITIALIZE, aclrtSetDevice(0), "aclrtSetDevice", "aclInit");
    CHECK_FAILS(ACL_ERROR_UNINITIALIZE, aclrtCreateStream(&stream), "aclInit");
    CHECK_FAILS(ACL_ERROR_UNINITIALIZE, aclrtCreateContext(&context, 0), "aclInit");
    CHECK_FAILS(ACL_ERROR_UNINITIALIZE, aclrtMalloc(&block, 8, ACL_MEM_MALLOC_HUGE_FIRST),
                "aclInit");
    CHECK_FAILS(ACL_ERROR_UNINITIALIZE, aclrtSynchronizeStream(nullptr), "aclInit");
    CHECK_FAILS(ACL_ERROR_UNINITIALIZE, aclrtSynchronizeDevice(), "aclInit");
    CHECK_FAILS(ACLNN_ERR_RUNTIME_ERROR, softmax(tensor, 0), "aclnnSoftmaxBackward", "aclInit");
    CHECK_FAILS(ACL_ERROR_INVALID_FILE, aclInit("no/such/file.json"), "configPath",
                "no/such/file.json");
    const std::string file = "status_codes_" + std::to_string(getpid()) + ".json";
    const char* path = file.c_str();
    std::ofstream(path) << "no json";
    CHECK_FAILS(ACL_ERROR_PARSE_FILE, aclInit(path), "configPath", "JSON");
    CHECK_STATUS(ACLNN_ERR_PARAM_INVALID, aclnnInit(path));
    for (const char* unreadable : {"/", "."}) {
        CHECK_FAILS(ACL_ERROR_INVALID_FILE, aclInit(unreadable), "configPath", "can be read",
                    unreadable);
        CHECK_STATUS(ACLNN_ERR_PARAM_INVALID, aclnnInit(unreadable));
    }
    std::ofstream(path) << "{ \"dump\": {} }\n";
    CHECK_OK(aclInit(path));
    CHECK_FAILS(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr), "aclInit");
    CHECK_OK(aclFinalize());
    CHECK_FAILS(ACL_ERROR_REPEAT_FINALIZE, aclFinalize(), "aclFinalize");
    CHECK_OK(aclInit(""));
    std::remove(path);
    CHECK_FAILS(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateStream(&stream), "aclrtSetDevice");
    CHECK_FAILS(ACL_ERROR_RT_CONTEXT_NULL, aclrtMalloc(&block, 8, ACL_MEM_MALLOC_HUGE_FIRST),
                "aclrtSetDevice");
    CHECK_FAILS(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeStream(nullptr), "aclrtSetDevice");
}

static void operators() {
    const Shape shape = {2, 3}, channels = {3};
    Tensor data(shape), vector(channels), other(channels);
    CHECK_FAILS(ACLNN_ERR_PARAM_INVALID, softmax(data, 2), "aclnnSoftmaxBackward: dim:", "(2, 3)",
                "got 2", "ACLNN_ERR_PARAM_INVALID");
    CHECK_FAILS(ACLNN_ERR_PARAM_NULLPTR, softmax(nullptr, 0),
                "aclnnSoftmaxBackward: gradOutput:", "ACLNN_ERR_PARAM_NULLPTR");
    CHECK_FAILS(
        ACLNN_ERR_PARAM_INVALID,
        aclnnPreluBackwardGetWorkspaceSize(data, data, vector, vector, vector, &size, &executor),
        "aclnnPreluBackward: gradInput:", "(2, 3)", "(3,)");
    CHECK_FAILS(ACLNN_ERR_PARAM_INVALID,
                aclnnBatchNormReduceBackwardGetWorkspaceSize(data, data, vector, data, nullptr,
                                                             false, false, true, nullptr, nullptr,
                                                             nullptr, other, &size, &executor),
                "aclnnBatchNormReduceBackward: invstd:", "(3,)");
    CHECK_FAILS(ACLNN_ERR_PARAM_NULLPTR,
                aclnnAvgPool2dBackwardGetWorkspaceSize(data, data, nullptr, nullptr, nullptr, false,
                                                       false, 0, 0, data, &size, &executor),
                "aclnnAvgPool2dBackward: kernelSize:");
    CHECK_FAILS(ACLNN_ERR_INNER_NULLPTR, aclDestroyAclOpExecutor(nullptr), "executor",
                "ACLNN_ERR_INNER_NULLPTR");
    // Softmax of nothing succeeds before anything else is looked at, a negative extent too.
    const int64_t none[] = {0, -1}, negative[] = {2, -1}, storage = 6;
    aclTensor* tensors[] = {nullptr, nullptr};
    for (int i = 0; i < 2; ++i)
        tensors[i] = aclCreateTensor(i == 0 ? none : negative, 2, ACL_FLOAT, nullptr, 0,
                                     ACL_FORMAT_ND, &storage, 1, nullptr);
    CHECK_OK(
        aclnnSoftmaxBackwardGetWorkspaceSize(tensors[0], tensors[0], 7, data, &size, &executor));
    CHECK(size == 0);
    CHECK_OK(aclDestroyAclOpExecutor(executor));
    CHECK_STATUS(ACLNN_ERR_PARAM_INVALID,
                 aclnnSoftmaxBackwardGetWorkspaceSize(tensors[1], tensors[1], 1, tensors[1], &size,
                                                      &executor));
    for (aclTensor* tensor : tensors) CHECK_OK(aclDestroyTensor(tensor));
    // The product of ASCEND_GRAD_SOC lacks PReLU when it is Ascend310P.
    const bool exists = std::string(aclrtGetSocName()) != "Ascend310P";
    const int status =
        aclnnPreluBackwardGetWorkspaceSize(data, data, vector, data, other, &size, &executor);
    CHECK(status == (exists ? ACLNN_SUCCESS : ACLNN_ERR_INNER_FIND_KERNEL_ERROR));
    if (exists) {
        CHECK_OK(aclDestroyAclOpExecutor(executor));
    } else {
        CHECK(message().find("ascend310p") != std::string::npos);
    }
}

static void facts() {
    int32_t major = 0, minor = 0, patch = -1, device = -1;
    uint32_t count = 0;
    aclrtRunMode mode = ACL_DEVICE;
    CHECK_OK(aclrtGetVersion(&major, &minor, &patch));
    CHECK(major == ACL_MAJOR_VERSION && minor == ACL_MINOR_VERSION && patch == ACL_PATCH_VERSION);
    CHECK_OK(aclrtGetDevice(&device));
    CHECK(device == 0);
    CHECK_OK(aclrtGetDeviceCount(&count));
    CHECK(count == 1);
    CHECK_OK(aclrtGetRunMode(&mode));
    CHECK(mode == ACL_HOST);
    CHECK(aclDataTypeSize(ACL_BF16) == 2 && aclDataTypeSize(ACL_DOUBLE) == 8 &&
          aclDataTypeSize(ACL_STRING) == 0);
    CHECK(aclFloatToFloat16(1.5f) == 0x3e00 && aclFloat16ToFloat(0xc000) == -2.0f);
    CHECK(aclFloatToFloat16(65520.0f) == 0x7c00 && aclFloat16ToFloat(1) == std::ldexp(1.0f, -24));
}

static void default_context() {
    aclrtContext made = nullptr, current = nullptr;
    CHECK_OK(aclrtSetDevice(0));
    CHECK_OK(aclrtSetDevice(0));
    CHECK_OK(aclrtResetDevice(0));
    CHECK_OK(aclrtCreateContext(&made, 0));
    CHECK_OK(aclrtGetCurrentContext(&current));
    CHECK(current == made);
    // A thread that has set nothing uses the device's own context.
    std::thread([made] {
        aclrtContext own = nullptr;
        CHECK(aclGetRecentErrMsg() == nullptr);
        CHECK_OK(aclrtGetCurrentContext(&own));
        CHECK(own != nullptr && own != made);
        CHECK_OK(aclrtSetCurrentContext(made));
        CHECK_OK(aclrtSynchronizeStream(nullptr));
    }).join();
    CHECK_OK(aclrtDestroyContext(made));
    CHECK_OK(aclrtGetCurrentContext(&current));
    CHECK(current != made);
    CHECK_OK(aclrtResetDeviceForce(0));
    CHECK_STATUS(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetCurrentContext(&current));
}

// aclnnInit alone is enough for both phases and the runtime.
static void without_acl_init() {
    const Shape shape = {2, 3};
    aclTensor* tensor = aclCreateTensor(shape.data(), 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND,
                                        shape.data(), 2, nullptr);
    CHECK_STATUS(ACLNN_ERR_RUNTIME_ERROR, softmax(tensor, 0));
    CHECK_OK(aclnnInit(nullptr));
    CHECK_OK(softmax(tensor, 0));
    CHECK_STATUS(ACLNN_ERR_PARAM_NULLPTR, aclnnSoftmaxBackward(nullptr, 0, executor, nullptr));
    CHECK_OK(aclDestroyTensor(tensor));
    CHECK_OK(aclrtSetDevice(0));
    {
        const std::vector<float> values = values_like(shape, 1);
        Tensor data(shape, values);
        CHECK_OK(softmax(data, 1));
        run_and_wait(aclnnSoftmaxBackward, size, executor, nullptr);
        CHECK_CLOSE(data.get(), softmax_reference(values, values, 3));
    }
    CHECK_OK(aclrtResetDevice(0));
    CHECK_STATUS(ACL_ERROR_REPEAT_FINALIZE, aclFinalize());
    CHECK_OK(aclnnFinalize());
    CHECK_STATUS(ACL_ERROR_UNINITIALIZE, aclrtSetDevice(0));
}

int main() {
    CHECK(aclGetRecentErrMsg() == nullptr);
    const Shape shape = {2, 3};
    aclTensor* tensor = aclCreateTensor(shape.data(), 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND,
                                        shape.data(), 2, nullptr);
    before_start(tensor);
    default_context();
    CHECK_OK(aclrtSetDevice(0));
    facts();
    operators();
    CHECK_OK(aclrtResetDevice(0));
    CHECK_OK(aclFinalize());
    CHECK_OK(aclDestroyTensor(tensor));
    without_acl_init();
}
