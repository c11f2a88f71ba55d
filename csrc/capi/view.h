// From a tensor as CANN describes it to a view of its memory.
#pragma once

#include "capi/objects.h"

namespace ascend_grad::capi {

// What a view keeps of its tensor; all in bytes.
struct Placement {
    const aclTensor* handle = nullptr;
    char* base = nullptr;        // of the storage
    int64_t offset = 0;          // of element 0
    int64_t span = 0;            // from the storage's begin to the end of the last element
    bool is_sound = false;       // nothing is wrong with the view but, perhaps, its address
    bool was_allocated = false;  // base lay in a block of ours when it was last looked at
};

// Everything but the address; what is wrong with the tensor becomes the view's defect.
TensorView make_view(const Tensor& tensor, Placement& placement);

}  // namespace ascend_grad::capi
