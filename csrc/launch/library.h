// What a device library offers to the process that loads it: one per device ("npu", "emulator")
// and product family, named libascend_grad_<device>_<family>.so.
#pragma once

#include <string>
#include <vector>

#include "device/call.h"

namespace ascend_grad::launch {

// One launch as the emulator saw it. Cycles are a model's.
struct LaunchRecord {
    std::string kernel;
    uint32_t blocks = 0;
    std::vector<std::string> reports;  // rules that the kernel broke, and notes
    bool ok = true;                    // no report but notes
    double cycles = 0;
    double bound_cycles = 0;  // the bytes moved at the product's full bandwidth
    double microseconds = 0;
    uint64_t bytes_read = 0, bytes_written = 0;  // of global memory
    uint64_t scalar_accesses = 0;                // to single elements
    std::string table;                           // costs by pipe
};

struct Library {
    // Cores of the device that kernels are launched on. Fails where there is no device.
    Status (*core_count)(uint32_t& cores);
    // Tensors are in the host's memory: copies them in, runs the plan, copies results out.
    // `records`, if not null, takes what the emulator saw, also after an error.
    Status (*run_on_host_memory)(const device::Call& call, std::vector<LaunchRecord>* records);
    // Tensors are in the device's memory. Asynchronous on the stream, whose workspace is kept for
    // the next call; null is the default stream of the current context.
    Status (*run_on_device_memory)(const device::Call& call, void* stream);
};

// The one exported function.
using GetLibrary = const Library*();
inline constexpr const char* kGetLibrary = "ascend_grad_device_library";

}  // namespace ascend_grad::launch
