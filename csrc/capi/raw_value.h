// Enumerations as callers of C pass them: any integer.
#pragma once

#include <cstdint>
#include <cstring>

namespace ascend_grad::capi {

// The number behind the value, which may be no enumerator: C++ leaves reading that undefined.
template <class Enum>
int32_t raw_value(const Enum& value) {
    int32_t number;
    static_assert(sizeof(number) == sizeof(value));
    std::memcpy(&number, &value, sizeof(number));
    return number;
}

}  // namespace ascend_grad::capi
