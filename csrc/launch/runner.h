// Runs planned calls on this library's device. See library.h for the contracts.
#pragma once

#include "core/check.h"
#include "launch/library.h"

namespace ascend_grad::launch {

Status core_count(uint32_t& cores);
Status run_on_host_memory(const device::Call& call, std::vector<LaunchRecord>* records);
// With the caller's workspace; null: with one that the stream keeps.
Status run_on_device_memory(const device::Call& call, void* stream,
                            const GivenWorkspace* workspace);

// The product whose rules C calls of this library follow.
Soc library_soc();
// What ascendGradErrorMessage gives.
void set_error_message(const Status& status);

}  // namespace ascend_grad::launch
