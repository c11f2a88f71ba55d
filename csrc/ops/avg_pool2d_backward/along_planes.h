#pragma once

#include <algorithm>

#include "ops/avg_pool2d_backward/plane_quotients.h"

namespace ascend_grad {
namespace {

// Windows around each element of planes without gaps, for registers that are narrower than a
// vector: vectors run along whole planes, across the ends of rows, and columns that a window does
// not have are masked.
template <class T>
class PoolAlongPlanes : public PlaneQuotients<T> {
    using Base = PlaneQuotients<T>;
    using Base::elements_;
    using Base::streaming_;

  public:
    PoolAlongPlanes(const AvgPool2dBackward::Plan& plan, void* const* addresses, bool streaming)
        : Base(plan, addresses, streaming),
          width_(static_cast<int>(plan.width.extent)),
          pad_(static_cast<int>(plan.width.pad)) {
        for (int m = 0; m < 2 * pad_; ++m) {
            const int offset = m < pad_ ? m - pad_ : m - pad_ + 1;
            for (int c = 0; c < width_ + kLanes; ++c) {
                const int column = c % width_ + offset;
                masks_[m][c] = column >= 0 && column < width_ ? ~0u : 0u;
            }
        }
        // What is read before and behind a plane.
        std::fill_n(quotients_, kMargin, 0.0f);
        std::fill_n(quotients_ + kMargin + elements_, kMargin + kLanes, 0.0f);
        std::fill_n(sums_, kLanes, 0.0f);
        std::fill_n(sums_ + kLanes + elements_, 3 * kLanes, 0.0f);
    }

    // Columns of planes that this is for, at most (measured).
    static constexpr int64_t most_columns(int64_t pad) {
        if (sizeof(T) == 2) return pool_scratch::kPlaneColumns;
        return pad == 1 ? 32 : 24;
    }

    void run() {
        static_assert(most_columns(1) <= kMostColumns && most_columns(2) <= kMostColumns);
        this->each_plane([&](const T* from, Sink<T>& sink, int64_t writable) {
            this->divide(from, quotients_ + kMargin);
            if (pad_ == 1) {
                add_rows<3>();
                write<3>(writable, sink);
            } else {
                add_rows<5>();
                write<5>(writable, sink);
            }
        });
    }

  private:
    using Base::kMost;
    static constexpr int kMostColumns = static_cast<int>(pool_scratch::kPlaneColumns);
    static constexpr int kMostPad = static_cast<int>(pool_scratch::kAround);
    static constexpr int kMargin = kMostPad * kMostColumns;
    static_assert(kMargin % kLanes == 0);
    // Of quotients_, so that sums_ begins 128 bytes before the place in a page where it begins: a
    // load waits for a store just before it to the same place of another page, and so no sum is
    // stored where quotients are loaded soon after (measured: 0.8 of the time).
    static constexpr int kPage = 4096 / sizeof(float);
    static constexpr int kQuotients = kMost + kPage - 2 * kLanes;
    static_assert(kMost % kPage == 0 && kQuotients >= kMargin + kMost + kMargin + kLanes);
    static constexpr int kPiece = Sink<T>::kReserve - 2 * kPairLanes;
    static_assert(kPiece % kPairLanes == 0);

    template <int kKernel>
    void add_rows() {
        const int width = width_;
        const float* from = quotients_ + kMargin - kKernel / 2 * width;
        float* const to = sums_ + kLanes;
        const int n = elements_;
        for (int i = 0; i < n; i += kLanes, from += kLanes) {
            Lanes sum = load(from);
            AG_EACH (k, kKernel - 1) sum = sum + load(from + (k + 1) * width);
            store_raw(to + i, sum);
        }
    }
    // sum, and then the columns from kOffset of the window's middle on.
    template <int kOffset, int kPad>
    AG_INLINE Lanes add_columns(Lanes sum, const float* p, int column) const {
        if constexpr (kOffset > kPad) {
            return sum;
        } else {
            Lanes x = load(p + kOffset);
            if constexpr (kOffset != 0) {
                const uint32_t* mask = masks_[kOffset < 0 ? kOffset + kPad : kOffset + kPad - 1];
                x = keep(x, mask + column);
            }
            if constexpr (kOffset > -kPad) x = sum + x;
            return add_columns<kOffset + 1, kPad>(x, p, column);
        }
    }
    // The plane's results. From its first element on, `writable` may be written.
    template <int kKernel>
    void write(int64_t writable, Sink<T>& sink) const {
        constexpr int kPad = kKernel / 2;
        const int width = width_, step = kLanes % width_;
        int column = 0;
        const float* from = sums_ + kLanes;
        const auto next = [&]() AG_INLINE_LAMBDA {
            const Lanes sum = add_columns<-kPad, kPad>(Lanes{}, from, column);
            from += kLanes;
            column += step;
            if (column >= width) column -= width;
            return sum;
        };
        for (int done = 0; done < elements_; done += kPiece) {
            const int n = static_cast<int>(least(kPiece, elements_ - done));
            T* const out = sink.reserve(n + kPairLanes);
            const T* const end = out + (streaming_ ? n + kPairLanes : writable - done);
            for (int i = 0; i < n; i += kPairLanes) {
                const Lanes low = next(), high = next();
                const auto x = pack<T>({low, high});
                if (out + i + kPairLanes <= end) {
                    prefetch_stores(out + i, kPairLanes);
                    store_packed(out + i, x);
                } else {
                    store_first_packed(out + i, x, n - i);
                }
            }
            sink.commit(n);
        }
    }

    const int width_, pad_;
    alignas(64) uint32_t masks_[2 * kMostPad][kMostColumns + kLanes];
    alignas(64) float quotients_[kQuotients];
    // Directly behind quotients_, see kQuotients.
    alignas(64) float sums_[kLanes + kMost + 3 * kLanes];
};

}  // namespace
}  // namespace ascend_grad
