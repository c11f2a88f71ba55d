// Sizes and strides.
#pragma once

#include <cstdint>

namespace ascend_grad {

constexpr int64_t divide_up(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}
constexpr int64_t round_up(int64_t a, int64_t multiple) {
    return divide_up(a, multiple) * multiple;
}

// The size of equal parts of at most `most`, but for a smaller last one.
constexpr int64_t even_part(int64_t whole, int64_t most) {
    return divide_up(whole, divide_up(whole, most));
}
constexpr int64_t magnitude(int64_t value) {
    return value < 0 ? -value : value;
}

}  // namespace ascend_grad
