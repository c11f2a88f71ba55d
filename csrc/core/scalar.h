// One element, wherever it lies.
#pragma once

#include "core/dtype.h"
#include "core/float16.h"

namespace ascend_grad {
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

}  // namespace
}  // namespace ascend_grad
