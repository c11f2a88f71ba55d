// When to write past the caches.
#pragma once

#include "core/tensor.h"

namespace ascend_grad {

// numel * bytes_per_element, or the largest number where that does not fit.
int64_t saturated_bytes(int64_t numel, int64_t bytes_per_element);

// Whether an output that is written once should bypass the caches: where a call moves as many bytes
// as the caches hold. Same bits either way.
bool streaming_pays(int64_t bytes);

// Element 0 and all strides but that of single elements lie on 16-byte boundaries.
bool is_vector_aligned(const TensorView& view);

}  // namespace ascend_grad
