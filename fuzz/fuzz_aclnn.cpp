// See README.md.
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_avgpool2d_backward.h"
#include "aclnnop/aclnn_batch_norm_backward_reduce.h"
#include "aclnnop/aclnn_prelu_backward.h"
#include "aclnnop/aclnn_softmax_backward.h"

namespace {

using Shape = std::vector<int64_t>;

void require(bool condition, const char* what) {
    if (condition) return;
    const char* message = aclGetRecentErrMsg();
    fprintf(stderr, "violated: %s (last message: %s)\n", what,
            message != nullptr ? message : "none");
    abort();
}

constexpr aclDataType kDtypes[] = {ACL_FLOAT, ACL_FLOAT16,     ACL_BF16,      ACL_DOUBLE,
                                   ACL_INT32, ACL_BOOL,        ACL_COMPLEX64, ACL_STRING,
                                   ACL_INT4,  ACL_DT_UNDEFINED};
constexpr aclFormat kFormats[] = {ACL_FORMAT_ND,   ACL_FORMAT_NCHW,    ACL_FORMAT_NCL,
                                  ACL_FORMAT_NHWC, ACL_FORMAT_NC1HWC0, ACL_FORMAT_UNDEFINED};
constexpr int64_t kOddNumbers[] = {-1,
                                   -2,
                                   0,
                                   1,
                                   3,
                                   255,
                                   256,
                                   INT32_MAX,
                                   INT32_MIN,
                                   INT64_MAX,
                                   INT64_MIN,
                                   1LL << 31,
                                   1LL << 62,
                                   (1LL << 62) - 1,
                                   1LL << 33,
                                   -(1LL << 33),
                                   4294967295LL,
                                   65537};
constexpr uint64_t kUntouched = 0x5a5a5a5a5a5a5a5a;
constexpr uint64_t kLargestBlock = 1 << 16;
constexpr uint64_t kMostElements = 1 << 20;

aclrtStream g_stream, g_destroyed_stream;
aclTensor* g_destroyed_tensor;

class Program {
  public:
    Program(const uint8_t* data, size_t size) : data_(data, size) {}
    ~Program() {
        for (aclTensor* tensor : tensors_)
            require(aclDestroyTensor(tensor) == 0, "tensors can be destroyed");
        for (aclIntArray* array : arrays_)
            require(aclDestroyIntArray(array) == 0, "arrays can be destroyed");
        for (void* block : blocks_) require(aclrtFreeHost(block) == 0, "blocks can be freed");
    }

    void run() {
        switch (data_.ConsumeIntegralInRange(0, 3)) {
            case 0:
                return batch_norm();
            case 1:
                return avg_pool();
            case 2:
                return prelu();
            default:
                return softmax();
        }
    }

  private:
    bool rarely() { return data_.ConsumeIntegralInRange(0, 31) == 31; }
    int64_t odd_number() { return data_.PickValueInArray(kOddNumbers); }
    int64_t extent() { return rarely() ? odd_number() : data_.ConsumeIntegralInRange(0, 7); }
    aclDataType common_dtype() {
        return rarely() ? data_.PickValueInArray(kDtypes)
                        : kDtypes[data_.ConsumeIntegralInRange(0, 2)];
    }

    Shape shape(int lowest, int highest) {
        Shape result(data_.ConsumeIntegralInRange<size_t>(static_cast<size_t>(lowest),
                                                          static_cast<size_t>(highest)));
        for (int64_t& value : result) value = extent();
        return result;
    }

    // Contiguous, with gaps and an order of its own, or anything.
    Shape strides(const Shape& extents, int64_t& reach) {
        Shape result(extents.size());
        reach = 1;
        const bool gaps = data_.ConsumeBool();
        std::vector<size_t> order;
        for (size_t i = extents.size(); i-- > 0;) {
            order.insert(
                order.begin() + (gaps ? data_.ConsumeIntegralInRange<long>(0, (long)order.size())
                                      : (long)order.size()),
                i);
        }
        for (const size_t i : order) {
            result[i] =
                rarely() ? odd_number() : reach + (gaps ? data_.ConsumeIntegralInRange(0, 2) : 0);
            int64_t steps;
            if (extents[i] > 0 && (__builtin_mul_overflow(extents[i] - 1, result[i], &steps) ||
                                   __builtin_add_overflow(reach, steps, &reach))) {
                reach = INT64_MAX;
            }
            reach = std::clamp<int64_t>(reach, 1, INT64_MAX / 2);
        }
        return result;
    }

    void* block(uint64_t bytes) {
        if (bytes == 0 || bytes > kLargestBlock) return nullptr;
        void* result = nullptr;
        // Of exact size, unlike those of aclrtMalloc.
        require(aclrtMallocHost(&result, bytes) == 0, "small blocks can be allocated");
        memset(result, data_.ConsumeIntegral<uint8_t>(), bytes);
        blocks_.push_back(result);
        return result;
    }

    aclTensor* tensor(Shape extents, aclDataType dtype, aclFormat format) {
        if (rarely()) return odd_tensor();
        if (rarely()) extents = shape(0, 10);
        if (rarely()) dtype = static_cast<aclDataType>(data_.ConsumeIntegralInRange(-2, 40));
        if (rarely()) format = data_.PickValueInArray(kFormats);
        int64_t reach = 1;
        const bool contiguous = data_.ConsumeBool();
        const Shape steps = strides(extents, reach);
        int64_t offset = rarely() ? odd_number() : data_.ConsumeIntegralInRange(0, 2);
        int64_t stored = 0;
        if (__builtin_add_overflow(reach, offset, &stored)) stored = INT64_MAX;
        if (rarely()) stored -= 1;
        const Shape storage = rarely() ? shape(0, 3) : Shape{stored};
        const uint64_t itemsize = aclDataTypeSize(dtype);
        void* address = nullptr;
        if (!rarely() && stored > 0 && stored < (1 << 14)) {
            address = block(static_cast<uint64_t>(stored) * (itemsize == 0 ? 1 : itemsize));
        }
        if (rarely() && !blocks_.empty())
            address = blocks_[data_.ConsumeIntegralInRange<size_t>(0, blocks_.size() - 1)];
        if (rarely()) address = odd_address(address);
        aclTensor* const result = aclCreateTensor(extents.data(), extents.size(), dtype,
                                                  contiguous ? nullptr : steps.data(), offset,
                                                  format, storage.data(), storage.size(), address);
        require(result != nullptr, "a tensor of at most 25 dimensions is made");
        tensors_.push_back(result);
        return result;
    }

    // One byte beside, where the view then leaves its block; or where no process has memory.
    void* odd_address(void* address) {
        if (address != nullptr && data_.ConsumeBool()) return static_cast<char*>(address) + 1;
        return reinterpret_cast<void*>(data_.ConsumeIntegral<uintptr_t>() | uintptr_t{1} << 63);
    }

    aclTensor* odd_tensor() {
        switch (data_.ConsumeIntegralInRange(0, 5)) {
            case 0:
                return nullptr;
            case 1:
                return g_destroyed_tensor;
            case 2:
                return reinterpret_cast<aclTensor*>(g_stream);
            case 3:
                return reinterpret_cast<aclTensor*>(data_.ConsumeIntegral<uintptr_t>());
            default:
                return tensors_.empty()
                           ? nullptr
                           : tensors_[data_.ConsumeIntegralInRange<size_t>(0, tensors_.size() - 1)];
        }
    }

    aclIntArray* int_array(int64_t lowest, int64_t highest) {
        if (rarely()) return reinterpret_cast<aclIntArray*>(odd_tensor());
        Shape values(rarely() ? data_.ConsumeIntegralInRange<size_t>(0, 4)
                              : data_.ConsumeIntegralInRange<size_t>(1, 2));
        for (int64_t& value : values)
            value = rarely() ? odd_number() : data_.ConsumeIntegralInRange(lowest, highest);
        arrays_.push_back(aclCreateIntArray(values.data(), values.size()));
        return arrays_.back();
    }

    using Run = aclnnStatus (*)(void*, uint64_t, aclOpExecutor*, aclrtStream);

    // Broadcasting can make more elements than anybody waits for.
    static bool is_large(aclTensor* tensor) {
        int64_t* extents = nullptr;
        uint64_t rank = 0, count = 1;
        if (aclGetViewShape(tensor, &extents, &rank) != ACLNN_SUCCESS) return false;
        for (uint64_t i = 0; i < rank && count <= kMostElements; ++i) {
            if (__builtin_mul_overflow(count, static_cast<uint64_t>(extents[i]), &count))
                count = UINT64_MAX;
        }
        delete[] extents;
        return count > kMostElements;
    }

    // After phase 1: what it promises, and phase 2 where it accepted.
    void finish(aclnnStatus status, Run run) {
        if (status != ACLNN_SUCCESS) {
            require(workspace_size_ == kUntouched && executor_ == nullptr,
                    "a failed phase 1 leaves its results alone");
            require(aclGetRecentErrMsg() != nullptr, "a failure has a message");
            return;
        }
        require(executor_ != nullptr && workspace_size_ != kUntouched,
                "phase 1 gives both results");
        const bool repeatable = data_.ConsumeBool();
        if (repeatable)
            require(aclSetAclOpExecutorRepeatable(executor_) == 0,
                    "an executor can be made repeatable");
        if (rarely()) run = &aclnnSoftmaxBackward;
        for (int i = repeatable ? data_.ConsumeIntegralInRange(0, 3) : 1; i > 0; --i) {
            if (rarely()) move_tensor();
            run_once(run);
        }
        // Used up, or not: either answer is legal, a crash is not.
        const aclnnStatus destroyed = aclDestroyAclOpExecutor(executor_);
        require(destroyed == 0 || !repeatable, "a repeatable executor is still there");
        require(run(nullptr, 0, executor_, g_stream) == ACLNN_ERR_PARAM_NULLPTR,
                "a used executor is refused");
    }

    void move_tensor() {
        aclTensor* moved = odd_tensor();
        void* address = rarely() ? nullptr : block(data_.ConsumeIntegralInRange<uint64_t>(1, 4096));
        const size_t index = data_.ConsumeIntegralInRange<size_t>(0, 10);
        switch (data_.ConsumeIntegralInRange(0, 3)) {
            case 0:
                aclSetInputTensorAddr(executor_, index, moved, address);
                break;
            case 1:
                aclSetOutputTensorAddr(executor_, index, moved, address);
                break;
            case 2:
                aclSetTensorAddr(executor_, index, moved, address);
                break;
            default:
                aclSetRawTensorAddr(moved, address);
        }
    }

    void run_once(Run run) {
        uint64_t size = workspace_size_;
        void* workspace = block(size);
        if (workspace == nullptr && size > 0) return;  // larger than this program wants to allocate
        if (rarely()) size += static_cast<uint64_t>(data_.ConsumeIntegralInRange(-64, 64));
        if (rarely()) workspace = rarely() ? nullptr : odd_address(workspace);
        aclrtStream stream = rarely()              ? g_destroyed_stream
                             : data_.ConsumeBool() ? g_stream
                                                   : nullptr;
        if (run(workspace, size, executor_, stream) != ACLNN_SUCCESS) {
            require(aclGetRecentErrMsg() != nullptr, "a failure has a message");
            return;
        }
        require(aclrtSynchronizeStream(stream) == 0, "a stream can be waited for");
    }

    void batch_norm() {
        Shape data = shape(2, 6);
        const Shape channels{data[1]};
        const aclDataType dtype = common_dtype();
        const aclFormat format = data_.ConsumeBool() ? ACL_FORMAT_ND : ACL_FORMAT_NCHW;
        aclTensor* t[9];
        for (int i = 0; i < 2; ++i) t[i] = tensor(data, dtype, format);
        for (int i = 2; i < 9; ++i) t[i] = tensor(channels, common_dtype(), format);
        if (data_.ConsumeBool()) t[4] = nullptr;
        const bool input_g = data_.ConsumeBool(), weight_g = data_.ConsumeBool(),
                   bias_g = data_.ConsumeBool();
        const aclnnStatus status = aclnnBatchNormReduceBackwardGetWorkspaceSize(
            t[0], t[1], t[2], t[3], t[4], input_g, weight_g, bias_g, t[5], t[6], t[7], t[8],
            &workspace_size_, &executor_);
        if (status == ACLNN_SUCCESS && is_large(t[1])) {
            require(aclDestroyAclOpExecutor(executor_) == 0, "an executor can be destroyed");
        } else {
            finish(status, &aclnnBatchNormReduceBackward);
        }
    }

    void avg_pool() {
        Shape input = shape(2, 2), output = input;
        const bool batched = data_.ConsumeBool();
        if (!batched) input.erase(input.begin()), output.erase(output.begin());
        for (int i = 0; i < 2; ++i) {
            input.push_back(extent());
            output.push_back(extent());
        }
        const aclDataType dtype = common_dtype();
        const aclFormat format = batched || data_.ConsumeBool() ? ACL_FORMAT_NCHW : ACL_FORMAT_NCL;
        aclTensor* const grad = tensor(output, dtype, format);
        aclTensor* const self = tensor(input, dtype, format);
        aclTensor* const result = data_.ConsumeBool() ? self : tensor(input, dtype, format);
        aclIntArray* const kernel = int_array(1, 5);
        aclIntArray* const stride = data_.ConsumeBool() ? nullptr : int_array(1, 5);
        aclIntArray* const padding = int_array(0, 1);
        const int64_t divisor = rarely() ? odd_number() : data_.ConsumeIntegralInRange(-3, 3);
        const auto mode =
            rarely() ? data_.ConsumeIntegral<int8_t>() : data_.ConsumeIntegralInRange<int8_t>(0, 3);
        finish(aclnnAvgPool2dBackwardGetWorkspaceSize(
                   grad, self, kernel, stride, padding, data_.ConsumeBool(), data_.ConsumeBool(),
                   divisor, mode, result, &workspace_size_, &executor_),
               &aclnnAvgPool2dBackward);
    }

    void prelu() {
        const Shape data = shape(0, 6);
        Shape grad = data;
        if (rarely() && !grad.empty()) grad.erase(grad.begin());
        if (rarely() && !grad.empty()) grad.back() = 1;
        const aclDataType dtype = common_dtype();
        Shape weight{data_.ConsumeBool() || data.size() < 2 ? 1 : data[1]};
        if (rarely()) weight.insert(weight.begin(), 1);
        aclTensor* const g = tensor(grad, dtype, ACL_FORMAT_ND);
        aclTensor* const x = tensor(data, dtype, ACL_FORMAT_ND);
        aclTensor* const w = tensor(weight, dtype, ACL_FORMAT_ND);
        aclTensor* const grad_input = rarely() ? x : tensor(data, dtype, ACL_FORMAT_ND);
        aclTensor* const grad_weight = tensor(weight, dtype, ACL_FORMAT_ND);
        finish(aclnnPreluBackwardGetWorkspaceSize(g, x, w, grad_input, grad_weight,
                                                  &workspace_size_, &executor_),
               &aclnnPreluBackward);
    }

    void softmax() {
        const Shape data = shape(0, 8);
        const aclDataType dtype = common_dtype();
        aclTensor* const g = tensor(data, dtype, ACL_FORMAT_ND);
        aclTensor* const y = rarely() ? g : tensor(data, dtype, ACL_FORMAT_ND);
        aclTensor* const out =
            rarely() ? y : tensor(data, data_.ConsumeBool() ? dtype : ACL_DOUBLE, ACL_FORMAT_ND);
        const auto rank = static_cast<int64_t>(data.size());
        const int64_t dim =
            rarely() ? odd_number()
                     : data_.ConsumeIntegralInRange<int64_t>(-rank, rank > 0 ? rank - 1 : 0);
        finish(aclnnSoftmaxBackwardGetWorkspaceSize(g, y, dim, out, &workspace_size_, &executor_),
               &aclnnSoftmaxBackward);
    }

    FuzzedDataProvider data_;
    std::vector<aclTensor*> tensors_;
    std::vector<aclIntArray*> arrays_;
    std::vector<void*> blocks_;
    uint64_t workspace_size_ = kUntouched;
    aclOpExecutor* executor_ = nullptr;
};

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    require(aclInit(nullptr) == 0 && aclrtSetDevice(0) == 0, "the library starts");
    require(aclrtCreateStream(&g_stream) == 0 && aclrtCreateStream(&g_destroyed_stream) == 0,
            "streams can be made");
    require(aclrtDestroyStream(g_destroyed_stream) == 0, "a stream can be destroyed");
    const int64_t one = 1;
    g_destroyed_tensor =
        aclCreateTensor(&one, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &one, 1, nullptr);
    require(aclDestroyTensor(g_destroyed_tensor) == 0, "a tensor can be destroyed");
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Program(data, size).run();
    return 0;
}
