// Where the emulator and a card differ.
#pragma once

#include <aclnn/acl_meta.h>

#include <string>
#include <vector>

#include "core/status.h"
#include "launch/library.h"

namespace ascend_grad::launch {

// Cores for kernels of ours on that device.
bool backend_core_count(int32_t device, uint32_t& cores);
// What the launches of this thread are recorded in until it is set to null.
void backend_set_records(std::vector<LaunchRecord>* records);
// Tells the emulator the extent of memory that kernels may touch; nothing on a card.
void backend_watch(void* memory, size_t bytes, const std::string& name, bool initialised);
void backend_unwatch(void* memory);
// Has the emulator fill a result's memory with NaN when the next kernel starts, so that an earlier
// call's result is not taken for what a kernel left out; nothing on a card.
void backend_spoil(void* memory, size_t bytes);

// The array's numbers, valid as long as it is; false for what is no array.
bool backend_int_array(const aclIntArray* array, const int64_t*& values, int64_t& size);

}  // namespace ascend_grad::launch
