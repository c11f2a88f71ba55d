#pragma once

#include <cstdint>

namespace ascend_grad {

inline constexpr int64_t kCacheLine = 64;  // bytes
// Of runs of memory whose first part of a line is worth its own step, so that they can be streamed
// from the next line on (measured).
inline constexpr int64_t kLongRun = 4096;  // bytes

}  // namespace ascend_grad
