// What the programs share: checks that tell where they failed, and tensors with memory of their
// own.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_avgpool2d_backward.h"
#include "aclnnop/aclnn_batch_norm_backward_reduce.h"
#include "aclnnop/aclnn_prelu_backward.h"
#include "aclnnop/aclnn_softmax_backward.h"

inline std::string message() {
    const char* text = aclGetRecentErrMsg();
    return text != nullptr ? text : "";
}

inline void check(bool condition, const char* text, int line) {
    if (condition) return;
    std::fprintf(stderr, "line %d: %s does not hold; last message: %s\n", line, text,
                 message().c_str());
    std::exit(1);
}

inline void check_status(int status, int expected, const char* text, int line) {
    if (status == expected) return;
    std::fprintf(stderr, "line %d: %s gave %d, not %d; last message: %s\n", line, text, status,
                 expected, message().c_str());
    std::exit(1);
}

#define CHECK(condition) check(condition, #condition, __LINE__)
#define CHECK_STATUS(expected, call) check_status(call, expected, #call, __LINE__)
#define CHECK_OK(call) CHECK_STATUS(0, call)
inline void check_words(int status, std::initializer_list<const char*> words, int line) {
    const std::string text = message();
    const auto check_word = [&](const std::string& word) {
        if (text.find(word) != std::string::npos) return;
        std::fprintf(stderr, "line %d: no '%s' in: %s\n", line, word.c_str(), text.c_str());
        std::exit(1);
    };
    for (const char* word : words) check_word(word);
    check_word(std::to_string(status));
}
// The call fails with that status, and its message has every one of the words.
#define CHECK_FAILS(expected, call, ...)                \
    do {                                                \
        CHECK_STATUS(expected, call);                   \
        check_words(expected, {__VA_ARGS__}, __LINE__); \
    } while (0)

using Shape = std::vector<int64_t>;

inline int64_t element_count(const Shape& shape) {
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    return count;
}

// A float tensor in device memory. Memory before, between and, `unused` elements, behind its
// elements holds kGap.
class Tensor {
  public:
    static constexpr float kGap = -77;

    explicit Tensor(const Shape& shape, const std::vector<float>& values = {},
                    aclFormat format = ACL_FORMAT_ND, Shape strides = {}, int64_t offset = 0,
                    int64_t unused = 0)
        : shape_(shape), strides_(std::move(strides)), offset_(offset) {
        if (strides_.empty()) {
            strides_.resize(shape.size());
            int64_t step = 1;
            for (size_t i = shape.size(); i-- > 0; step *= shape[i]) strides_[i] = step;
        }
        storage_ = offset + 1 + unused;
        for (size_t i = 0; i < shape.size(); ++i) storage_ += (shape[i] - 1) * strides_[i];
        CHECK_OK(aclrtMalloc(&memory_, bytes(), ACL_MEM_MALLOC_HUGE_FIRST));
        set(values);
        handle_ = aclCreateTensor(shape_.data(), shape_.size(), ACL_FLOAT, strides_.data(), offset_,
                                  format, &storage_, 1, memory_);
        CHECK(handle_ != nullptr);
    }
    ~Tensor() {
        CHECK_OK(aclDestroyTensor(handle_));
        CHECK_OK(aclrtFree(memory_));
    }
    Tensor(const Tensor&) = delete;

    operator aclTensor*() const { return handle_; }
    void* memory() const { return memory_; }
    size_t bytes() const { return static_cast<size_t>(storage_) * sizeof(float); }

    void set(const std::vector<float>& values) {
        std::vector<float> storage(static_cast<size_t>(storage_), kGap);
        for (size_t i = 0; i < values.size(); ++i) storage[place(i)] = values[i];
        CHECK_OK(aclrtMemcpy(memory_, bytes(), storage.data(), bytes(), ACL_MEMCPY_HOST_TO_DEVICE));
    }
    // Elements in order; checks that nothing was written beside them.
    std::vector<float> get() const {
        std::vector<float> storage(static_cast<size_t>(storage_));
        CHECK_OK(aclrtMemcpy(storage.data(), bytes(), memory_, bytes(), ACL_MEMCPY_DEVICE_TO_HOST));
        std::vector<float> values(static_cast<size_t>(element_count(shape_)));
        for (size_t i = 0; i < values.size(); ++i) {
            values[i] = storage[place(i)];
            storage[place(i)] = kGap;
        }
        for (const float gap : storage) CHECK(gap == kGap);
        return values;
    }

  private:
    size_t place(size_t index) const {
        int64_t place = offset_;
        auto rest = static_cast<int64_t>(index);
        for (size_t i = shape_.size(); i-- > 0; rest /= shape_[i])
            place += rest % shape_[i] * strides_[i];
        return static_cast<size_t>(place);
    }

    Shape shape_, strides_;
    int64_t offset_;
    int64_t storage_;
    void* memory_ = nullptr;
    aclTensor* handle_ = nullptr;
};

// Reproducible values in [-1, 1), multiples of 1/16: sums of a few thousand of their products are
// exact.
inline std::vector<float> values_like(const Shape& shape, unsigned seed) {
    std::vector<float> values(static_cast<size_t>(element_count(shape)));
    for (float& value : values) {
        seed = seed * 1664525u + 1013904223u;
        value = static_cast<float>(static_cast<int>(seed >> 27) - 16) / 16;
    }
    return values;
}

using RunFunction = aclnnStatus (*)(void*, uint64_t, aclOpExecutor*, aclrtStream);

// Phase 2 with a workspace of just the size that phase 1 gave, and its end; checks that nothing was
// written beside the workspace.
inline void run_and_wait(RunFunction run, uint64_t workspace_size, aclOpExecutor* executor,
                         aclrtStream stream) {
    constexpr size_t kMargin = 256;
    std::vector<unsigned char> memory(workspace_size + 2 * kMargin, 0xa5);
    void* workspace = workspace_size > 0 ? memory.data() + kMargin : nullptr;
    CHECK_OK(run(workspace, workspace_size, executor, stream));
    CHECK_OK(aclrtSynchronizeStream(stream));
    for (size_t i = 0; i < kMargin; ++i) {
        CHECK(memory[i] == 0xa5 && memory[memory.size() - 1 - i] == 0xa5);
    }
}

// output * (gradOutput - sum) along the last axis, in double.
inline std::vector<float> softmax_reference(const std::vector<float>& grad,
                                            const std::vector<float>& output, size_t length) {
    std::vector<float> result(grad.size());
    for (size_t row = 0; row < grad.size(); row += length) {
        double sum = 0;
        for (size_t i = row; i < row + length; ++i) sum += static_cast<double>(grad[i]) * output[i];
        for (size_t i = row; i < row + length; ++i) {
            result[i] = static_cast<float>(output[i] * (static_cast<double>(grad[i]) - sum));
        }
    }
    return result;
}

inline void check_close(const std::vector<float>& got, const std::vector<float>& wanted, int line) {
    check(got.size() == wanted.size(), "equal sizes", line);
    for (size_t i = 0; i < got.size(); ++i) {
        if (std::fabs(got[i] - wanted[i]) <= 1e-6f * (1 + std::fabs(wanted[i]))) continue;
        std::fprintf(stderr, "line %d: element %zu is %g, not %g\n", line, i, got[i], wanted[i]);
        std::exit(1);
    }
}
#define CHECK_CLOSE(got, wanted) check_close(got, wanted, __LINE__)

inline void start() {
    CHECK_OK(aclInit(nullptr));
    CHECK_OK(aclrtSetDevice(0));
}
inline void stop() {
    CHECK_OK(aclrtResetDevice(0));
    CHECK_OK(aclFinalize());
}
