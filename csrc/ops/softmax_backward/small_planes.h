// Small planes that follow each other in memory: `columns` rows, whose elements lie side by side,
// or one row of at most sixteen elements. Products and results are made of whole vectors, whichever
// planes their elements belong to; but wide planes are taken one by one.
#pragma once

#include "isa/stream.h"
#include "ops/softmax_backward/op.h"
#include "ops/softmax_backward/planes.h"

namespace ascend_grad {
namespace {

class SmallPlanes {
  public:
    // Planes of one shape only.
    template <class T>
    void run(const T* g, const T* y, int length, int columns, int planes, bool asks_into_second,
             Sink<T>& sink) {
        if (length_ == 0) prepare(length, columns);
        const int plane = length * columns;
        const int batch = columns == 1 ? kBatch : kElements / plane;
        for (; planes > 0; planes -= batch) {
            const int count = planes < batch ? planes : batch;
            const int n = count * plane;
            T* const out = sink.reserve(n);
            if (columns >= SoftmaxBackward::kWideColumns) {
                wide_planes(g, y, out, n);
            } else {
                multiply(g, y, n);
                if (columns == 1) {
                    sum_short_rows(products_, count, length_, sums_);
                } else {
                    sum_planes(n);
                }
                write(g, y, out, n, asks_into_second);
            }
            sink.commit(n);
            g += n;
            y += n;
        }
    }

  private:
    static constexpr int kBatch = 64;                  // single rows
    static constexpr int kBlock = 2 * kLanes;          // of which a number of pairs covers all
    static constexpr int kElements = kBatch * kLanes;  // of a batch
    static_assert(SoftmaxBackward::kWidePlane <= kElements);

    void prepare(int length, int columns) {
        length_ = length;
        columns_ = columns;
        std::memset(sums_, 0, sizeof(sums_));
        std::memset(products_, 0, sizeof(products_));
        if (columns > 1) return;
        int i = 0;
        for (int row = 0; row < kBlock; ++row) {
            for (int k = 0; k < length; ++k) row_of_[i++] = row;
        }
    }

    // Of at least kWideColumns columns, one by one: their columns are summed in registers.
    template <class T>
    AG_INLINE void wide_planes(const T* g, const T* y, T* out, int n) {
        static_assert(SoftmaxBackward::kWideColumns >= kLanes);
        constexpr uintptr_t kAheadBytes = 3 * kElements * sizeof(T);
        constexpr bool kByColumns = true, kAsksForNoStores = true;
        const int plane = length_ * columns_;
        for (int i = 0; i < n; i += plane) {
            sum_plane(g + i, y + i, columns_, length_, kByColumns, nullptr, sums_);
            repeat_sums(sums_, columns_);
            write_plane(g + i, y + i, out + i, plane, columns_, 0, sums_,
                        {kAheadBytes, kAheadBytes}, std::true_type{}, kAsksForNoStores);
        }
    }
    // For each element of planes of n elements. What follows the sums of few columns is none, and
    // the next line's replace it.
    AG_INLINE void sum_planes(int n) {
        const int length = length_, columns = columns_;
        for (int plane = 0; plane < n; plane += length * columns) {
            const float* const products = products_ + plane;
            const auto stores = [&](int column, Lanes sums) AG_INLINE_LAMBDA {
                float* to = sums_ + plane + column;
                for (int k = 0; k < length; ++k, to += columns) store_raw(to, sums);
            };
            sum_columns(
                columns, length,
                [&](int k, int c) AG_INLINE_LAMBDA { return load(products + k * columns + c); },
                stores);
        }
    }
    template <class T>
    AG_INLINE void multiply(const T* g, const T* y, int n) {
        for (int i = 0; i < n; i += kPairLanes) {
            const LanePair product = products_of(g + i, y + i, n - i);
            store_raw(products_ + i, product.low);
            store_raw(products_ + i + kLanes, product.high);
        }
    }
    template <class T>
    AG_INLINE void write(const T* g, const T* y, T* out, int n, bool asks_into_second) const {
        if (columns_ > 1) {
            write(g, y, out, 0, n, asks_into_second,
                  [&](int i) AG_INLINE_LAMBDA { return load_pair(sums_ + i); });
            return;
        }
        for (int row = 0, begin = 0; begin < n; row += kBlock, begin += kBlock * length_) {
            // A copy, which no store can change.
            alignas(64) float sums[kBlock];
            std::memcpy(sums, sums_ + row, sizeof(sums));
            const int end = n - begin < kBlock * length_ ? n : begin + kBlock * length_;
            write(g, y, out, begin, end, asks_into_second, [&](int i) AG_INLINE_LAMBDA {
                const int32_t* row_of = row_of_ + (i - begin);
                return LanePair{pick(sums, row_of), pick(sums, row_of + kLanes)};
            });
        }
    }
    // Elements [begin, end); sums_of(i) are those of the rows of thirty-two elements.
    template <class T, class SumsOf>
    AG_INLINE void write(const T* g, const T* y, T* out, int begin, int end, bool asks_into_second,
                         const SumsOf& sums_of) const {
        // Some batches later.
        const auto ahead = 3 * kBatch * static_cast<uintptr_t>(length_) * sizeof(T);
        int i = begin;
        for (; i + kPairLanes <= end; i += kPairLanes) {
            for (const T* input : {g, y}) {
                prefetch(input + i, ahead, kPairLanes * static_cast<int>(sizeof(T)),
                         asks_into_second);
            }
            store_pair(out + i, load_pair(y + i) * (load_pair(g + i) - sums_of(i)));
        }
        if (i < end) {
            const LanePair value =
                load_first_pair(y + i, end - i) * (load_first_pair(g + i, end - i) - sums_of(i));
            store_first_pair(out + i, value, end - i);
        }
    }

    int length_ = 0;
    int columns_ = 1;
    alignas(64) int32_t row_of_[kBlock * kLanes];     // of each element of a block of single rows
    alignas(64) float sums_[kElements + kPairLanes];  // of single rows, else for each element
    alignas(64) float products_[kElements + kLanes + kPairLanes];
};

}  // namespace
}  // namespace ascend_grad
