// Rows of grad_input from rows of quotients, for windows one or two columns apart.
#pragma once

#include "isa/interleave.h"

namespace ascend_grad {
namespace {

// Neighbouring rows that the same windows cover: what they sum up is `first`, or first + second.
struct PoolBand {
    const float* first;
    const float* second;  // or null
    int rows;
};
// Rows of `columns` elements, one behind the other. Vectors may end up to `room` elements after the
// first row's start: rows are written in order.
struct PoolRows {
    int columns;
    int64_t room;
    int even, odd;  // windows that cover a column at a group's start, and at its second place
};

template <bool kTwo>
AG_INLINE Lanes band_sum(const PoolBand& band, int64_t j) {
    return kTwo ? load(band.first + j) + load(band.second + j) : load(band.first + j);
}
// The windows up to the one at j, from the left.
template <bool kTwo>
AG_INLINE Lanes sum_up_to(const PoolBand& band, int64_t j, int count) {
    if (count == 0) return Lanes{};
    Lanes sum = band_sum<kTwo>(band, j - (count - 1));
    for (int t = count - 2; t >= 0; --t) sum = sum + band_sum<kTwo>(band, j - t);
    return sum;
}

// kStride 1 or 2; kKernel 0: any. kPhase: place of the first column in its group. From the last
// columns to the first, so that no row's end overwrites the beginning of the next.
template <int kStride, int kKernel, int kPhase, bool kTwo, class T>
AG_INLINE void write_band(const PoolBand& band, T* out, const PoolRows& rows) {
    const int even = kKernel > 0 ? (kKernel + kStride - 1) / kStride : rows.even;
    const int odd = kKernel > 0 ? kKernel / kStride : rows.odd;
    const int columns = rows.columns;
    const bool exact = band.rows * static_cast<int64_t>(columns) + kPairLanes > rows.room;
    for (int c = (columns - 1) / kPairLanes * kPairLanes; c >= 0; c -= kPairLanes) {
        typename Packed<T>::Type x;
        if (kStride == 1) {
            x = pack<T>({sum_up_to<kTwo>(band, c, even), sum_up_to<kTwo>(band, c + kLanes, even)});
        } else {
            const Lanes at_even = sum_up_to<kTwo>(band, c / 2 + kPhase, even);
            const Lanes at_odd = sum_up_to<kTwo>(band, c / 2, odd);
            x = pack_interleaved<T>(kPhase == 0 ? LanePair{at_even, at_odd}
                                                : LanePair{at_odd, at_even});
        }
        T* to = out + c;
        if (!exact || c + kPairLanes <= columns) {
            for (int i = 0; i < band.rows; ++i, to += columns) store_packed(to, x);
        } else {
            for (int i = 0; i < band.rows; ++i, to += columns)
                store_first_packed(to, x, columns - c);
        }
    }
}
template <int kStride, int kKernel, int kPhase, class T>
void write_bands(const PoolBand* bands, int count, T* out, PoolRows rows) {
    for (const PoolBand* band = bands; band < bands + count; ++band) {
        if (band->second != nullptr) {
            write_band<kStride, kKernel, kPhase, true>(*band, out, rows);
        } else {
            write_band<kStride, kKernel, kPhase, false>(*band, out, rows);
        }
        const int64_t written = static_cast<int64_t>(band->rows) * rows.columns;
        out += written;
        rows.room -= written;
    }
}

template <class T>
using PoolWriter = void (*)(const PoolBand* bands, int count, T* out, PoolRows rows);

constexpr int kMaxUnrolledKernel = 7;  // the others share code

template <int kStride, int kPhase, class T, int kKernel = kMaxUnrolledKernel>
PoolWriter<T> writer_of_kernel(int64_t kernel) {
    if constexpr (kKernel > 0) {
        if (kernel != kKernel) return writer_of_kernel<kStride, kPhase, T, kKernel - 1>(kernel);
    }
    return write_bands<kStride, kKernel, kPhase, T>;
}
// Null where there is none.
template <class T>
PoolWriter<T> pool_writer(int64_t stride, int64_t kernel, int64_t phase) {
    if (stride == 1) return writer_of_kernel<1, 0, T>(kernel);
    if (stride != 2) return nullptr;
    return phase == 0 ? writer_of_kernel<2, 0, T>(kernel) : writer_of_kernel<2, 1, T>(kernel);
}

}  // namespace
}  // namespace ascend_grad
