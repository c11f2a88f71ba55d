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
    const float* sums;  // of the lines, or of the elements of each; readable up to the sixteenth
    int lines, columns;
    bool streams;  // result columns are whole cache lines

    AG_INLINE void write() const {
        if (lines == kBlockRows<T> && columns == kLanes) {
            write<true>();
        } else {
            write<false>();
        }
    }

  private:
    template <bool kWhole>
    AG_INLINE void write() const {
        Lanes x[kLanes];
        transpose_rows<T>([&](int k) { return line<kWhole>(k); }, x);
        for (int c = 0; c < (kWhole ? kLanes : columns); ++c) {
            char* to = out + c * out_stride;
            if (!kWhole) {
                std::memcpy(to, &x[c], static_cast<size_t>(lines) * sizeof(T));
            } else if (streams) {
                stream_lines(to, reinterpret_cast<const char*>(&x[c]), sizeof(Lanes));
            } else {
                std::memcpy(to, &x[c], sizeof(Lanes));
            }
        }
    }
    template <bool kWhole>
    AG_INLINE Lanes line(int k) const {
        const T* from_g = reinterpret_cast<const T*>(g + k * g_stride);
        const T* from_y = reinterpret_cast<const T*>(y + k * y_stride);
        if (kWhole) return load(from_y) * (load(from_g) - sum_of(k));
        if (k >= lines) return Lanes{};
        return load_first(from_y, columns) * (load_first(from_g, columns) - sum_of(k));
    }
    AG_INLINE Lanes sum_of(int k) const { return kSumPerLine ? splat(sums[k]) : load(sums); }
};

}  // namespace
}  // namespace ascend_grad
