#pragma once

#include <algorithm>

#include "isa/shuffle.h"
#include "ops/avg_pool2d_backward/tile.h"

namespace ascend_grad {
namespace {

// Windows around each element of planes without gaps: vectors run along whole planes, across the
// ends of rows, and columns that a window does not have are masked.
template <class T>
class PoolAlongPlanes : public PoolTile {
    using Op = AvgPool2dBackward;

  public:
    PoolAlongPlanes(const Op::Plan& plan, void* const* addresses, bool streaming)
        : PoolTile(plan, addresses, streaming),
          width_(static_cast<int>(plan.width.extent)),
          elements_(static_cast<int>(plan.height.extent) * width_),
          pad_(static_cast<int>(plan.width.pad)),
          are_packed_(plan.planes.count == 0 ||
                      (plan.planes.count == 1 &&
                       plan.planes.stride[0][1] == elements_ * static_cast<int64_t>(sizeof(T)))),
          counts_mask_(plan.divisor != 0.0f ? 0 : ~0) {
        for (int m = 0; m < 2 * pad_; ++m) {
            const int offset = m < pad_ ? m - pad_ : m - pad_ + 1;
            for (int c = 0; c < width_ + kLanes; ++c) {
                const int column = c % width_ + offset;
                masks_[m][c] = column >= 0 && column < width_ ? ~0u : 0u;
            }
        }
        prepare_division();
        // What is read before and behind a plane.
        std::fill_n(quotients_, kMargin, 0.0f);
        std::fill_n(quotients_ + kMargin + elements_, kMargin + kLanes, 0.0f);
        std::fill_n(sums_, kLanes, 0.0f);
        std::fill_n(sums_ + kLanes + elements_, 3 * kLanes, 0.0f);
    }

    void run() {
        Sink<T> sink(streaming_, grad_input_ + plane_offset(first_plane_, 1));
        for (int64_t plane = first_plane_; plane < last_plane_; ++plane) {
            divide(reinterpret_cast<const T*>(grad_ + plane_offset(plane, 0)));
            sink.move_to(grad_input_ + plane_offset(plane, 1));
            const int64_t planes = are_packed_ ? last_plane_ - plane : 1;
            if (pad_ == 1) {
                add_rows<3>();
                write<3>(planes * elements_, sink);
            } else {
                add_rows<5>();
                write<5>(planes * elements_, sink);
            }
        }
    }

  private:
    static constexpr int kMost = static_cast<int>(pool_scratch::kPlane);
    static constexpr int kMostColumns = static_cast<int>(pool_scratch::kPlaneColumns);
    static constexpr int kMostPad = static_cast<int>(pool_scratch::kPlanePad);
    static constexpr int kMargin = kMostPad * kMostColumns;
    static_assert(kMargin % kLanes == 0 && kMost % kPairLanes == 0);
    // Of quotients_, so that sums_ begins 128 bytes before the place in a page where it begins: a
    // load waits for a store just before it to the same place of another page, and so no sum is
    // stored where quotients are loaded soon after (measured: 0.8 of the time).
    static constexpr int kPage = 4096 / sizeof(float);
    static constexpr int kQuotients = kMost + kPage - 2 * kLanes;
    static_assert(kMost % kPage == 0 && kQuotients >= kMargin + kMost + kMargin + kLanes);
    static constexpr int kPiece = Sink<T>::kReserve - 2 * kPairLanes;
    static_assert(kPiece % kPairLanes == 0);

    void prepare_division() {
        uses_reciprocals_ = PoolTile::uses_reciprocals();
        if (plan_.divisor != 0.0f) {
            for (int i = 0; i < kLanes; ++i) set_count(i, plan_.divisor);
            return;
        }
        // Of a plane's rows few differ.
        float count_before = 0.0f;
        for (int at = 0; at < elements_; at += width_) {
            const float count = counted(plan_.height, plan_.count_include_pad, at / width_);
            for (int c = 0; c < width_; ++c) {
                if (count == count_before) {
                    copy_count(at + c, at + c - width_);
                } else {
                    set_count(at + c, count * counted(plan_.width, plan_.count_include_pad, c));
                }
            }
            count_before = count;
        }
        for (int i = elements_; i < elements_ + kLanes; ++i) set_count(i, 1.0f);
    }
    void set_count(int i, float count) {
        counts_[i] = count;
        if (!uses_reciprocals_) return;
        const Reciprocal r = reciprocal(count);
        high_[i] = r.high;
        rest_[i] = r.rest;
    }
    void copy_count(int to, int from) {
        counts_[to] = counts_[from];
        if (!uses_reciprocals_) return;
        high_[to] = high_[from];
        rest_[to] = rest_[from];
    }
    // Sets the quotients of a plane.
    void divide(const T* from) {
        if (factor_ != 0.0f) {
            const Lanes factor = splat(factor_);
            return set_quotients(from, [&](Lanes x, int) AG_INLINE_LAMBDA { return x * factor; });
        }
        if (uses_reciprocals_) {
            TinyLanes tiny;
            set_quotients(from, [&](Lanes x, int i) AG_INLINE_LAMBDA {
                if (kMayBeTiny<T>) tiny.look_at(x);
                return by_products(x, load(high_ + i), load(rest_ + i));
            });
            if (!kMayBeTiny<T> || !tiny.found()) return;
        }
        set_quotients(from, [&](Lanes x, int i) AG_INLINE_LAMBDA { return x / load(counts_ + i); });
    }
    // And +0 for -0, and behind the last one.
    template <class Quotient>
    AG_INLINE void set_quotients(const T* from, const Quotient& quotient) {
        float* const to = quotients_ + kMargin;
        const int n = elements_, mask = counts_mask_;
        const uintptr_t ahead = plan_.prefetch;
        int i = 0;
        for (; i + kLanes <= n; i += kLanes) {
            prefetch<Cache::kFirst>(from + i, ahead, 1);
            store_raw(to + i, quotient(load(from + i), i & mask) + Lanes{});
        }
        if (i < n) store_raw(to + i, quotient(load_first(from + i, n - i), i & mask) + Lanes{});
    }
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
    // The sums that lie kOffset elements from p, which is aligned, on.
    template <int kOffset>
    static AG_INLINE Lanes load_beside(const float* p) {
        if constexpr (kOffset <= 0) {
            return load_before<-kOffset>(p);
        } else {
            return load_before<kLanes - kOffset>(p + kLanes);
        }
    }
    // sum, and then the columns from kOffset of the window's middle on.
    template <int kOffset, int kPad>
    AG_INLINE Lanes add_columns(Lanes sum, const float* p, int column) const {
        if constexpr (kOffset > kPad) {
            return sum;
        } else {
            Lanes x = load_beside<kOffset>(p);
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

    const int width_, elements_, pad_;
    const bool are_packed_;  // grad_input's planes follow each other
    const int counts_mask_;  // of an element's number: 0 where all counts are the same
    bool uses_reciprocals_ = false;
    alignas(64) uint32_t masks_[2 * kMostPad][kMostColumns + kLanes];
    alignas(64) float counts_[kMost + kLanes];
    alignas(64) float high_[kMost + kLanes];
    alignas(64) float rest_[kMost + kLanes];
    alignas(64) float quotients_[kQuotients];
    // Directly behind quotients_, see kQuotients.
    alignas(64) float sums_[kLanes + kMost + 3 * kLanes];
};

}  // namespace
}  // namespace ascend_grad
