// Runs of elements of any dtype and stride as floats.
#pragma once

#include "core/scalar.h"
#include "isa/every_second.h"
#include "isa/partial.h"

namespace ascend_grad {
namespace {

// to[0..n) = the n elements that start at `from`, `stride` bytes apart.
template <class T>
inline void load_run(float* to, const char* from, int64_t stride, int n) {
    constexpr int64_t kSize = sizeof(T);
    const T* unit = reinterpret_cast<const T*>(from);
    int i = 0;
    if (stride == kSize) {
        for (; i + kLanes <= n; i += kLanes) store_raw(to + i, load(unit + i));
    } else if (stride == 0) {
        const float value = read_as<T>(from);
        for (; i < n; ++i) to[i] = value;
    } else if (stride == 2 * kSize) {
        // The last element has no successor that surely exists, so it is left to the loop below.
        for (; i + kLanes < n; i += kLanes) store_raw(to + i, load_every_second(unit + 2 * i));
    }
    for (; i < n; ++i) to[i] = read_as<T>(from + i * stride);
}

// The n elements that start at `to`, `stride` bytes apart = from[0..n), rounded.
template <class T>
inline void store_run(char* to, int64_t stride, const float* from, int n) {
    int i = 0;
    if (stride == static_cast<int64_t>(sizeof(T))) {
        T* unit = reinterpret_cast<T*>(to);
        for (; i + kLanes <= n; i += kLanes) store(unit + i, load(from + i));
    }
    for (; i < n; ++i) write_as<T>(to + i * stride, from[i]);
}

// The same for a dtype known at run time.
inline void load_run(DataType dtype, float* to, const char* from, int64_t stride, int n) {
    switch (dtype) {
        case DataType::kFloat16:
            return load_run<Float16>(to, from, stride, n);
        case DataType::kBFloat16:
            return load_run<BFloat16>(to, from, stride, n);
        default:
            return load_run<float>(to, from, stride, n);
    }
}
inline void store_run(DataType dtype, char* to, int64_t stride, const float* from, int n) {
    switch (dtype) {
        case DataType::kFloat16:
            return store_run<Float16>(to, stride, from, n);
        case DataType::kBFloat16:
            return store_run<BFloat16>(to, stride, from, n);
        default:
            return store_run<float>(to, stride, from, n);
    }
}

}  // namespace
}  // namespace ascend_grad
