#pragma once

#include <cstdint>

namespace ascend_grad {

inline constexpr int64_t kCacheLine = 64;  // bytes

}  // namespace ascend_grad
