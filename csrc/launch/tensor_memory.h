// A tensor's bytes between the host and the device, strides and all.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/tensor.h"

namespace ascend_grad::launch {

// Bytes that a view with elements touches, relative to its element 0.
struct Span {
    int64_t low = 0;   // of the first byte, at most 0
    int64_t high = 0;  // behind the last
    size_t bytes() const { return static_cast<size_t>(high - low); }
};
Span span_of(const TensorView& view);

// True when every byte of the span belongs to an element.
bool fills_span(const TensorView& view);

// Copies the view's elements, and nothing between them, from `from`, laid out like `view.data`;
// both point to element 0.
void copy_elements(const TensorView& view, const char* from);

}  // namespace ascend_grad::launch
