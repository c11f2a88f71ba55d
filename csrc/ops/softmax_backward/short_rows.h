// Rows of at most 16 elements in planes that follow each other in memory: `neighbours` rows, whose
// elements lie side by side, or one row. Products and results are made of whole vectors, whichever
// rows their elements belong to.
#pragma once

#include "isa/prefetch.h"
#include "isa/stream.h"
#include "isa/tree_sums.h"

namespace ascend_grad {
namespace {

class ShortRows {
  public:
    // Planes of one shape only.
    template <class T, class U>
    void run(const T* g, const T* y, int length, int neighbours, int planes, bool asks_into_second,
             Sink<U>& sink) {
        const int batch = kBatch / neighbours;
        const auto in_batch = [&](int left) { return left < batch ? left : batch; };
        if (prepared_ < in_batch(planes)) prepare(length, neighbours, in_batch(planes));
        for (int plane = 0; plane < planes; plane += batch) {
            const int count = in_batch(planes - plane);
            const int rows = count * neighbours;
            const int n = rows * length_;
            multiply(g, y, n);
            const float* products = neighbours == 1 ? products_ : in_rows(n);
            for (int r = 0; r < rows; r += kFoldedRows) {
                Folded folded[kFoldedRows];
                for (int k = 0; k < kFoldedRows; ++k, products += length_)
                    folded[k] = load_folded(products, length_);
                tree_sums(folded, sums_ + r);
            }
            write(g, y, sink.reserve(n), n, asks_into_second);
            sink.commit(n);
            g += n;
            y += n;
        }
    }

  private:
    static constexpr int kBatch = 64;          // rows
    static constexpr int kBlock = 2 * kLanes;  // of which a whole number of pairs covers all

    void prepare(int length, int neighbours, int planes) {
        length_ = length;
        neighbours_ = neighbours;
        std::memset(sums_, 0, sizeof(sums_));
        std::memset(products_, 0, sizeof(products_));
        int i = 0;
        if (neighbours == 1) {
            prepared_ = kBatch;
            for (int row = 0; row < kBlock; ++row) {
                for (int k = 0; k < length; ++k) row_of_[i++] = row;
            }
            return;
        }
        prepared_ = planes;
        for (int plane = 0; plane < planes; ++plane) {
            const int begin = i;
            for (int k = 0; k < length; ++k) {
                for (int row = 0; row < neighbours; ++row, ++i) {
                    row_of_[i] = plane * neighbours + row;
                    place_of_[begin + row * length + k] = i;
                }
            }
        }
        std::memset(row_of_ + i, 0, kPairLanes * sizeof(int32_t));
        std::memset(place_of_ + i, 0, kPairLanes * sizeof(int32_t));
        std::memset(in_rows_, 0, sizeof(in_rows_));
    }

    // The products, one row after the other.
    AG_INLINE const float* in_rows(int n) {
        for (int i = 0; i < n; i += kLanes)
            store_raw(in_rows_ + i, gather(products_, place_of_ + i));
        return in_rows_;
    }
    template <class T>
    AG_INLINE void multiply(const T* g, const T* y, int n) {
        int i = 0;
        for (; i + kPairLanes <= n; i += kPairLanes) {
            const LanePair product = load_pair(g + i) * load_pair(y + i);
            store_raw(products_ + i, product.low);
            store_raw(products_ + i + kLanes, product.high);
        }
        if (i < n) {
            const LanePair product = load_first_pair(g + i, n - i) * load_first_pair(y + i, n - i);
            store_raw(products_ + i, product.low);
            store_raw(products_ + i + kLanes, product.high);
        }
    }
    template <class T, class U>
    AG_INLINE void write(const T* g, const T* y, U* out, int n, bool asks_into_second) const {
        if (neighbours_ > 1) {
            write(g, y, out, 0, n, asks_into_second, [&](int i) AG_INLINE_LAMBDA {
                return LanePair{gather(sums_, row_of_ + i), gather(sums_, row_of_ + i + kLanes)};
            });
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
    template <class T, class U, class SumsOf>
    AG_INLINE void write(const T* g, const T* y, U* out, int begin, int end, bool asks_into_second,
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

    static constexpr int kElements = kBatch * kLanes;
    int length_ = 0;
    int neighbours_ = 1;
    int prepared_ = 0;  // planes whose elements the tables have
    float sums_[kBatch];
    // Of each element of a batch, or a block of single rows: its row. Of each in the order of rows:
    // where it lies.
    alignas(64) int32_t row_of_[kElements + kPairLanes];
    alignas(64) int32_t place_of_[kElements + kPairLanes];
    alignas(64) float products_[kElements + kLanes + kPairLanes];
    alignas(64) float in_rows_[kElements + kLanes + kPairLanes];
};

}  // namespace
}  // namespace ascend_grad
