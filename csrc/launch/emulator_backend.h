// Launches of emulated kernels.
#pragma once

#include <cstdint>
#include <functional>

namespace ascend_grad::launch {

// Waits for the stream, then runs `body` as a kernel on `blocks` cores. 0 or an error code.
uint32_t emulate(const char* kernel, uint32_t blocks, void* stream,
                 const std::function<void()>& body);

}  // namespace ascend_grad::launch
