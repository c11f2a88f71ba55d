#include "launch/tensor_memory.h"

#include <cstring>

#include "core/layout.h"

namespace ascend_grad::launch {

Span span_of(const TensorView& view) {
    Span span{0, data_type_size(view.dtype)};
    for (int axis = 0; axis < view.rank; ++axis) {
        const int64_t reach = (view.shape[axis] - 1) * view.strides[axis];
        (reach < 0 ? span.low : span.high) += reach;
    }
    return span;
}

bool fills_span(const TensorView& view) {
    return span_of(view).bytes() == static_cast<size_t>(view.numel * data_type_size(view.dtype));
}

void copy_elements(const TensorView& view, const char* from) {
    const auto size = static_cast<size_t>(data_type_size(view.dtype));
    Loops loops;
    loops.operands = 1;
    for (int axis = 0; axis < view.rank; ++axis)
        loops.append(view.shape[axis], &view.strides[axis]);
    loops.sort();
    loops.merge();
    char* const to = static_cast<char*>(view.data);
    if (loops.count == 0) {
        std::memcpy(to, from, size);
        return;
    }
    // Runs of neighbouring elements are copied at once.
    const int inner = loops.count - 1;
    const int64_t extent = loops.extent[inner], stride = loops.stride[inner][0];
    const bool is_run = stride == static_cast<int64_t>(size);
    const int64_t rows = loops.iterations() / extent;
    loops.count = inner;
    for (int64_t row = 0; row < rows; ++row) {
        int64_t offset = 0;
        loops.offsets(row, &offset);
        if (is_run) {
            std::memcpy(to + offset, from + offset, static_cast<size_t>(extent) * size);
            continue;
        }
        for (int64_t i = 0; i < extent; ++i)
            std::memcpy(to + offset + i * stride, from + offset + i * stride, size);
    }
}

}  // namespace ascend_grad::launch
