// Rows of grad_input from rows of quotients, for windows one or two columns apart.
#pragma once

#include "isa/interleave.h"
#include "isa/shuffle.h"
#include "ops/avg_pool2d_backward/tile.h"

namespace ascend_grad {
namespace {

// Neighbouring rows that the same windows cover: what they sum up is `first`, or first + second.
struct PoolBand {
    const float* first;
    const float* second;  // or null
    int rows;
};
// Of rows that lie one behind the other.
struct PoolRowShape {
    int columns;
    int even, odd;  // windows that cover a column at a group's start, and at its second place
    int pixel;      // elements from a window to the next
};

template <bool kTwo>
AG_INLINE Lanes band_sum(const PoolBand& band, int64_t j) {
    return kTwo ? load(band.first + j) + load(band.second + j) : load(band.first + j);
}
// The windows up to the one at j, from the left.
template <bool kTwo>
AG_INLINE Lanes sum_up_to(const PoolBand& band, int64_t j, int count, int pixel = 1) {
    if (count == 0) return Lanes{};
    Lanes sum = band_sum<kTwo>(band, j - (count - 1) * pixel);
    for (int t = count - 2; t >= 0; --t) sum = sum + band_sum<kTwo>(band, j - t * pixel);
    return sum;
}
// sum, and then the windows from the one kBack before p up to the one at p, which is aligned.
template <int kBack>
AG_INLINE Lanes add_up_to(Lanes sum, const float* p) {
    if constexpr (kBack < 0) {
        return sum;
    } else {
        return add_up_to<kBack - 1>(sum + load_before<kBack>(p), p);
    }
}

// The columns [c, c + 32) of a band. kStride 1 or 2; kKernel 0: any. kPhase: place of the first
// column in its group.
template <int kStride, int kKernel, int kPhase, bool kTwo, class T>
AG_INLINE typename Packed<T>::Type packed_columns(const PoolBand& band, const PoolRowShape& shape,
                                                  int c) {
    const int even = kKernel > 0 ? (kKernel + kStride - 1) / kStride : shape.even;
    const int odd = kKernel > 0 ? kKernel / kStride : shape.odd;
    if constexpr (kStride == 1 && kKernel > 1 && !kTwo) {
        const float* p = band.first + c;
        return pack<T>({add_up_to<kKernel - 2>(load_before<kKernel - 1>(p), p),
                        add_up_to<kKernel - 2>(load_before<kKernel - 1>(p + kLanes), p + kLanes)});
    } else if constexpr (kStride == 1) {
        const int pixel = kKernel > 0 ? 1 : shape.pixel;
        return pack<T>({sum_up_to<kTwo>(band, c, even, pixel),
                        sum_up_to<kTwo>(band, c + kLanes, even, pixel)});
    } else {
        const Lanes at_even = sum_up_to<kTwo>(band, c / 2 + kPhase, even);
        const Lanes at_odd = sum_up_to<kTwo>(band, c / 2, odd);
        if constexpr (kPhase == 0) return pack_interleaved<T>({at_even, at_odd});
        return pack_interleaved<T>({at_odd, at_even});
    }
}
// Rows of a band from `out` on, see store_equal_rows().
template <int kStride, int kKernel, int kPhase, bool kTwo, bool kNarrow, class T>
AG_INLINE void write_band(const PoolBand& band, T* out, const T* end, const PoolRowShape& shape) {
    store_equal_rows<kNarrow>(out, band.rows, shape.columns, end, [&](int c) AG_INLINE_LAMBDA {
        return packed_columns<kStride, kKernel, kPhase, kTwo, T>(band, shape, c);
    });
}
template <int kStride, int kKernel, int kPhase, bool kNarrow, class T>
void write_bands(const PoolBand* bands, int count, T* out, const T* end,
                 const PoolRowShape& row_shape) {
    const PoolRowShape shape = row_shape;
    for (; count > 0; --count, ++bands) {
        const PoolBand band = *bands;
        if (band.second != nullptr) {
            write_band<kStride, kKernel, kPhase, true, kNarrow>(band, out, end, shape);
        } else {
            write_band<kStride, kKernel, kPhase, false, kNarrow>(band, out, end, shape);
        }
        out += static_cast<int64_t>(band.rows) * shape.columns;
    }
}

template <class T>
using PoolWriter = void (*)(const PoolBand* bands, int count, T* out, const T* end,
                            const PoolRowShape& shape);

// For kernels up to kKernel, and for larger ones in common code. Null where there is none.
template <int kStride, int kPhase, bool kNarrow, int kKernel, class T>
PoolWriter<T> writer_of_kernel(int64_t kernel) {
    if constexpr (kKernel > 0) {
        if (kernel != kKernel)
            return writer_of_kernel<kStride, kPhase, kNarrow, kKernel - 1, T>(kernel);
    }
    return write_bands<kStride, kKernel, kPhase, kNarrow, T>;
}
template <class T>
PoolWriter<T> pool_writer(const PoolAxis& width, int pixel, int64_t phase, int columns) {
    constexpr int kMost = kIsCompact ? 0 : 5, kMostOfTwo = kIsCompact ? 0 : 3;
    const int64_t stride = width.stride, kernel = width.kernel;
    if (stride == 1) return writer_of_kernel<1, 0, false, kMost, T>(pixel == 1 ? kernel : 0);
    if (stride != 2 || pixel > 1) return nullptr;
    if (phase == 1) {
        return columns <= kPairLanes ? writer_of_kernel<2, 1, true, kMostOfTwo, T>(kernel)
                                     : writer_of_kernel<2, 1, false, kMostOfTwo, T>(kernel);
    }
    return columns <= kPairLanes ? writer_of_kernel<2, 0, true, kMostOfTwo, T>(kernel)
                                 : writer_of_kernel<2, 0, false, kMostOfTwo, T>(kernel);
}

}  // namespace
}  // namespace ascend_grad
