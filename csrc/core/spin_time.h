// How long a thread that waits for another spins before it sleeps.
#pragma once

#include <chrono>

namespace ascend_grad {

// Waking a thread takes tens of microseconds, many times a small task.
inline constexpr std::chrono::microseconds kSpinTime{50};

}  // namespace ascend_grad
