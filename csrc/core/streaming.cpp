#include "core/streaming.h"

#include <limits>

namespace ascend_grad {
namespace {

// Measured break-even of non-temporal stores (docs/performance.md).
constexpr int64_t kCachedBytes = int64_t{24} << 20;

}  // namespace

int64_t saturated_bytes(int64_t numel, int64_t bytes_per_element) {
    int64_t bytes;
    return __builtin_mul_overflow(numel, bytes_per_element, &bytes)
               ? std::numeric_limits<int64_t>::max()
               : bytes;
}

bool streaming_pays(int64_t bytes) {
    return bytes >= kCachedBytes;
}

bool is_vector_aligned(const TensorView& view) {
    const auto aligned = [](int64_t value) { return value % 16 == 0; };
    const int64_t size = static_cast<int64_t>(data_type_size(view.dtype));
    bool result = aligned(static_cast<int64_t>(reinterpret_cast<intptr_t>(view.data)));
    for (int i = 0; i < view.rank; ++i) {
        result =
            result && (view.shape[i] == 1 || view.strides[i] == size || aligned(view.strides[i]));
    }
    return result;
}

}  // namespace ascend_grad
