// From a tensor as CANN describes it to a view of its memory.
#pragma once

#include <vector>

#include "core/tensor.h"

namespace ascend_grad {

// As aclCreateTensor was given it, whether sensible or not.
struct DescribedTensor {
    std::vector<int64_t> shape, strides;  // elements
    std::vector<int64_t> storage_shape;
    int64_t offset;  // elements
    DataType dtype;
    Format format;
    char* address;  // of the storage
};

// A view's place in its storage, in bytes.
struct Extent {
    int64_t offset = 0;  // of element 0
    int64_t span = 0;    // from the storage's begin to the end of the last element

    // Whether all of it lies in the address space, where the storage begins there.
    bool fits_at(const void* base) const {
        const auto address = reinterpret_cast<uintptr_t>(base);
        return address <= INTPTR_MAX && static_cast<uintptr_t>(span) <= INTPTR_MAX - address;
    }
};

// Everything but the address; what is wrong with the tensor becomes the view's defect.
TensorView make_view(const DescribedTensor& tensor, Extent& extent);

}  // namespace ascend_grad
