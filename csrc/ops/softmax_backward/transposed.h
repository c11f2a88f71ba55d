// Results whose neighbours in memory are not those of the inputs.
#pragma once

#include "isa/stream.h"
#include "isa/transpose.h"

namespace ascend_grad {
namespace {

// Lines of up to 16 elements of both inputs, each line contiguous, to as many columns of the
// result: neighbours in memory there are equal elements of neighbouring lines. Strides in bytes:
// from line to line of the inputs, from column to column of the result.
template <class T, bool kSumPerLine>
class TransposedBlock {
  public:
    const char* g;
    const char* y;
    char* out;
    int64_t g_stride, y_stride, out_stride;
    const float* sums;   // of the lines, or of the elements of each; readable up to the sixteenth
    int lines, columns;  // at most kBlockRows<T> and kLanes
    bool streams;

    AG_INLINE void write() const {
        if constexpr (!kIsCompact) {
            if (lines == kBlockRows<T> && columns == kLanes) return write_whole();
        }
        write_part();
    }

  private:
    AG_INLINE void write_whole() const {
        Lanes x[kLanes];
        transpose_rows<T>([&](int k) AG_INLINE_LAMBDA { return line<true>(k); }, x);
        const bool past_caches = streams && is_whole_lines(out, out_stride);
        for (int c = 0; c < kLanes; ++c) {
            char* const to = out + c * out_stride;
            if (past_caches) {
                stream_lines(to, reinterpret_cast<const char*>(&x[c]), sizeof(Lanes));
            } else {
                std::memcpy(to, &x[c], sizeof(Lanes));
            }
        }
    }
    AG_NOINLINE void write_part() const {
        alignas(kCacheLine) T block[kBlockRows<T>][kLanes];
        for (int k = 0; k < lines; ++k) store(block[k], line<false>(k));
        store_columns(out, out_stride, block[0], kLanes, lines, columns, streams);
    }
    template <bool kWhole>
    AG_INLINE Lanes line(int k) const {
        const T* from_g = reinterpret_cast<const T*>(g + k * g_stride);
        const T* from_y = reinterpret_cast<const T*>(y + k * y_stride);
        const Lanes sum = kSumPerLine ? splat(sums[k]) : load(sums);
        if (kWhole || columns == kLanes) return load(from_y) * (load(from_g) - sum);
        return load_first(from_y, columns) * (load_first(from_g, columns) - sum);
    }
};

}  // namespace
}  // namespace ascend_grad
