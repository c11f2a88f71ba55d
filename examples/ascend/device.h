// What the examples share: memory of the device, and a check against a formula in double.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "ascend_grad/device.h"

#define CHECK(call)                                                                       \
    do {                                                                                  \
        const int code_ = (call);                                                         \
        if (code_ != 0) {                                                                 \
            std::fprintf(stderr, "%s: %d: %s\n", #call, code_, ascendGradErrorMessage()); \
            std::exit(1);                                                                 \
        }                                                                                 \
    } while (0)

// Opens the device for the life of the program's main function.
class Session {
  public:
    Session() {
        CHECK(aclInit(nullptr));
        CHECK(aclrtSetDevice(0));
        CHECK(aclrtCreateStream(&stream));
    }
    ~Session() {
        aclrtDestroyStream(stream);
        aclrtResetDevice(0);
        aclFinalize();
    }
    aclrtStream stream = nullptr;
};

// A float32 array on the device.
class Array {
  public:
    explicit Array(std::vector<int64_t> shape) : shape_(std::move(shape)) {
        for (int64_t extent : shape_) count_ *= static_cast<size_t>(extent);
        CHECK(aclrtMalloc(&data_, bytes(), ACL_MEM_MALLOC_HUGE_FIRST));
    }
    Array(std::vector<int64_t> shape, const std::vector<float>& values) : Array(std::move(shape)) {
        CHECK(aclrtMemcpy(data_, bytes(), values.data(), bytes(), ACL_MEMCPY_HOST_TO_DEVICE));
    }
    ~Array() { aclrtFree(data_); }
    Array(const Array&) = delete;

    AscendGradTensor tensor() const {
        return {data_, ACL_FLOAT, static_cast<int32_t>(shape_.size()), shape_.data(), nullptr};
    }
    std::vector<float> read() const {
        std::vector<float> values(count_);
        CHECK(aclrtMemcpy(values.data(), bytes(), data_, bytes(), ACL_MEMCPY_DEVICE_TO_HOST));
        return values;
    }

  private:
    size_t bytes() const { return count_ * sizeof(float); }

    std::vector<int64_t> shape_;
    size_t count_ = 1;
    void* data_ = nullptr;
};

// Values between -1 and 1, the same in every run.
inline std::vector<float> values(size_t count, uint32_t seed) {
    std::vector<float> result(count);
    for (float& value : result) {
        seed = seed * 1664525u + 1013904223u;
        value = static_cast<float>(seed >> 8) / (1 << 23) - 1.0f;
    }
    return result;
}

// Prints the largest error relative to `scale` and returns main's exit status.
inline int report(const char* name, const std::vector<float>& got, const std::vector<double>& want,
                  double scale) {
    double worst = 0;
    for (size_t i = 0; i < got.size(); ++i) {
        const double error = std::abs(got[i] - want[i]) / scale;
        worst = error <= worst ? worst : error;  // a NaN is the worst
    }
    const bool ok = worst < 1e-5;
    std::printf("%s: %zu elements, largest error %.2g: %s\n", name, got.size(), worst,
                ok ? "passed" : "FAILED");
    return ok ? 0 : 1;
}
