// What a device library has of its product family: the kernels by name, and the family.
#pragma once

#include <cstdint>

namespace ascend_grad::launch {

// __CCE_AICORE__ of the products.
extern const int kArch;

struct Kernel {
    const char* name;
    int32_t pointer_count;
    // Puts it on the stream; 0 or an error code.
    uint32_t (*launch)(uint32_t blocks, void* stream, void* const* pointers, const void* tiling);
};

// Null when there is none of that name.
const Kernel* find_kernel(const char* name);

}  // namespace ascend_grad::launch
