// One element of a dtype known at run time.
#pragma once

#include "core/dtype.h"
#include "core/float16.h"

namespace ascend_grad {

// A vector with one value per channel, in somebody's memory.
struct ChannelVector {
    DataType dtype;
    int64_t stride;  // bytes
};

namespace {

template <class T>
inline float read_as(const char* p) {
    T value;
    std::memcpy(&value, p, sizeof(T));
    return to_float(value);
}
template <class T>
inline void write_as(char* p, float x) {
    T value;
    from_float(x, value);
    std::memcpy(p, &value, sizeof(T));
}

inline float read_scalar(DataType dtype, const void* address, int64_t offset) {
    const char* p = static_cast<const char*>(address) + offset;
    switch (dtype) {
        case DataType::kFloat16:
            return read_as<Float16>(p);
        case DataType::kBFloat16:
            return read_as<BFloat16>(p);
        default:
            return read_as<float>(p);
    }
}

inline void write_scalar(DataType dtype, void* address, int64_t offset, float x) {
    char* p = static_cast<char*>(address) + offset;
    switch (dtype) {
        case DataType::kFloat16:
            return write_as<Float16>(p, x);
        case DataType::kBFloat16:
            return write_as<BFloat16>(p, x);
        case DataType::kFloat64:
            return write_as<double>(p, x);
        default:
            return write_as<float>(p, x);
    }
}

}  // namespace
}  // namespace ascend_grad
