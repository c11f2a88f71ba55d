#include "core/described_tensor.h"

#include <algorithm>

namespace ascend_grad {
namespace {

// More elements, which only a stride of 0 can reach, would be years of work; plans count bytes and
// steps of several tensors in 64 bits.
constexpr int64_t kMaxElements = INT64_MAX / 64;

bool any_negative(const std::vector<int64_t>& values) {
    return std::any_of(values.begin(), values.end(), [](int64_t value) { return value < 0; });
}

// False when there are too many, extents of 0 being taken for 1: a shape is in bounds or not
// whether or not it has elements. No extent is negative.
bool count_elements(const std::vector<int64_t>& extents, int64_t& count) {
    int64_t product = 1;
    bool fits = true;
    bool is_empty = false;
    for (const int64_t extent : extents) {
        is_empty = is_empty || extent == 0;
        fits = fits && !__builtin_mul_overflow(product, std::max<int64_t>(extent, 1), &product) &&
               product <= kMaxElements;
    }
    count = is_empty ? 0 : fits ? product : INT64_MAX;
    return fits;
}

// In elements, from the storage's begin to past the last one; false when it does not fit.
bool reach_of(const DescribedTensor& tensor, int64_t& reach) {
    reach = 1;
    if (__builtin_add_overflow(reach, tensor.offset, &reach)) return false;
    for (size_t i = 0; i < tensor.shape.size(); ++i) {
        int64_t steps;
        if (__builtin_mul_overflow(tensor.shape[i] - 1, tensor.strides[i], &steps)) return false;
        if (__builtin_add_overflow(reach, steps, &reach)) return false;
    }
    return true;
}

ViewDefect place(const DescribedTensor& tensor, TensorView& view, Extent& extent) {
    const auto size = data_type_size(tensor.dtype);
    for (int i = 0; i < view.stored_rank(); ++i) {
        const auto axis = static_cast<size_t>(i);
        view.shape[i] = tensor.shape[axis];
        set_stride(view, i, tensor.strides[axis], size);
    }
    // Without elements also where another extent is negative.
    const bool is_empty = std::count(tensor.shape.begin(), tensor.shape.end(), 0) > 0;
    view.numel = is_empty ? 0 : -1;
    view.offset = tensor.offset;
    if (any_negative(tensor.shape)) return ViewDefect::kNegativeExtent;
    if (!count_elements(tensor.shape, view.numel)) return ViewDefect::kOverflow;
    if (any_negative(tensor.strides)) return ViewDefect::kNegativeStride;
    if (tensor.offset < 0) return ViewDefect::kNegativeOffset;
    if (!any_negative(tensor.storage_shape) &&
        !count_elements(tensor.storage_shape, view.storage)) {
        return ViewDefect::kOverflow;
    }
    int64_t reach = 0;
    if (!view.is_empty() && !reach_of(tensor, reach)) return ViewDefect::kOverflow;
    if (__builtin_mul_overflow(reach, size, &extent.span) ||
        __builtin_mul_overflow(tensor.offset, size, &extent.offset)) {
        return ViewDefect::kOverflow;
    }
    return reach > view.storage ? ViewDefect::kLeavesStorage : ViewDefect::kNone;
}

}  // namespace

TensorView make_view(const DescribedTensor& tensor, Extent& extent) {
    TensorView view;
    view.dtype = tensor.dtype;
    view.format = tensor.format;
    view.rank = static_cast<int32_t>(tensor.shape.size());
    view.defect = place(tensor, view, extent);
    // Without elements there may be no address: no offset may be added to that.
    if (view.defect == ViewDefect::kNone && view.is_empty()) std::fill_n(view.strides, kMaxRank, 0);
    return view;
}

}  // namespace ascend_grad
