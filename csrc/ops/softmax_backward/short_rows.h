// Rows of at most 16 elements that follow each other in memory: products and results are made of
// whole vectors, whichever rows their elements belong to.
#pragma once

#include "isa/prefetch.h"
#include "isa/stream.h"
#include "isa/tree_sums.h"

namespace ascend_grad {
namespace {

class ShortRows {
  public:
    // Rows of one length only.
    template <class T, class U>
    void run(const T* g, const T* y, int length, int rows, Sink<U>& sink) {
        if (length_ == 0) prepare(length);
        for (int row = 0; row < rows; row += kBatch) {
            const int count = rows - row < kBatch ? rows - row : kBatch;
            const int n = count * length_;
            multiply(g, y, n);
            for (int r = 0; r < count; r += kFoldedRows) {
                Folded folded[kFoldedRows];
                for (int k = 0; k < kFoldedRows; ++k)
                    folded[k] = load_folded(products_ + (r + k) * length_, length_);
                tree_sums(folded, sums_ + r);
            }
            write(g, y, sink.reserve(n), n);
            sink.commit(n);
            g += n;
            y += n;
        }
    }

  private:
    static constexpr int kBatch = 64;
    static constexpr int kBlock = 2 * kLanes;  // rows that a whole number of pairs covers

    void prepare(int length) {
        length_ = length;
        int i = 0;
        for (int row = 0; row < kBlock; ++row) {
            for (int k = 0; k < length; ++k) row_of_[i++] = row;
        }
        std::memset(sums_, 0, sizeof(sums_));
        std::memset(products_, 0, sizeof(products_));
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
    AG_INLINE void write(const T* g, const T* y, U* out, int n) const {
        // Some batches later.
        const auto ahead = 3 * kBatch * static_cast<uintptr_t>(length_) * sizeof(T);
        const float* sums = sums_;
        for (int begin = 0; begin < n; begin += kBlock * length_, sums += kBlock) {
            const int end = begin + kBlock * length_;
            const int32_t* row_of = row_of_;
            int i = begin;
            for (; i < end && i + kPairLanes <= n; i += kPairLanes, row_of += kPairLanes) {
                prefetch_loads(g + i, y + i, kPairLanes, ahead);
                const LanePair s = {pick(sums, row_of), pick(sums, row_of + kLanes)};
                store_pair(out + i, load_pair(y + i) * (load_pair(g + i) - s));
            }
            if (i < end && i < n) {
                const LanePair s = {pick(sums, row_of), pick(sums, row_of + kLanes)};
                store_first_pair(
                    out + i, load_first_pair(y + i, n - i) * (load_first_pair(g + i, n - i) - s),
                    n - i);
            }
        }
    }

    int length_ = 0;
    float sums_[kBatch];
    alignas(64) int32_t row_of_[kBlock * kLanes];  // of each element of kBlock rows
    alignas(64) float products_[(kBatch + 1) * kLanes + kPairLanes];
};

}  // namespace
}  // namespace ascend_grad
