#pragma once

#include <cstdint>

namespace ascend_grad {

inline constexpr int64_t kCacheLine = 64;  // bytes
// Runs of so many bytes or more are walked, or streamed, from their first whole line on (measured).
inline constexpr int64_t kLongRun = 4096;

}  // namespace ascend_grad
