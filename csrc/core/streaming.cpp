#include "core/streaming.h"

#include <algorithm>
#include <limits>

#include "core/cache_line.h"
#include "core/processor.h"

namespace ascend_grad {

int64_t saturated_bytes(int64_t numel, int64_t bytes_per_element) {
    int64_t bytes;
    return __builtin_mul_overflow(numel, bytes_per_element, &bytes)
               ? std::numeric_limits<int64_t>::max()
               : bytes;
}

bool streaming_pays(int64_t bytes, bool early, Gain gain) {
    const Processor& of = processor();
    const int64_t least = early ? of.early_bytes : of.streamed_bytes;
    return bytes >= (gain == Gain::kOnceNotKept ? std::max(least, of.kept_bytes) : least);
}

bool are_whole_lines(std::initializer_list<int64_t> bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](int64_t n) { return n % kCacheLine == 0; });
}

bool has_whole_lines(const TensorView& view, std::initializer_list<int64_t> runs) {
    const int64_t size = data_type_size(view.dtype);
    bool result = are_whole_lines({reinterpret_cast<intptr_t>(view.data)});
    for (int64_t elements : runs) result = result && are_whole_lines({elements * size});
    for (int i = 0; i < view.rank; ++i) {
        result = result && (view.shape[i] == 1 || view.strides[i] == size ||
                            are_whole_lines({view.strides[i]}));
    }
    return result;
}

}  // namespace ascend_grad
