#pragma once

#include "ops/avg_pool2d_backward/tile.h"

namespace ascend_grad {
namespace {

// One plane of grad_output at a time, without gaps, divided by what its windows count: vectors run
// along the whole plane, across the ends of rows.
template <class T>
class PlaneQuotients : public PoolTile {
    using Op = AvgPool2dBackward;

  protected:
    PlaneQuotients(const Op::Plan& plan, void* const* addresses, bool streaming)
        : PoolTile(plan, addresses, streaming),
          elements_(static_cast<int>(plan.height.extent * plan.width.extent)),
          row_windows_(static_cast<int>(plan.width.windows)),
          windows_(static_cast<int>(plan.height.windows) * row_windows_),
          are_packed_(plan.planes.count == 0 ||
                      (plan.planes.count == 1 &&
                       plan.planes.stride[0][1] == elements_ * static_cast<int64_t>(sizeof(T)))),
          counts_mask_(plan.divisor != 0.0f ? 0 : ~0) {
        prepare_division();
    }

    // Sets the quotients of each plane of the tile, +0 for -0 and zeros up to a vector behind the
    // last one, then calls write(sink, writable): from the plane's first result on, so many
    // elements may be written.
    template <class Write>
    AG_INLINE void each_plane(float* quotients, const Write& write) {
        Sink<T> sink(streaming_, grad_input_ + plane_offset(first_plane_, 1));
        for (int64_t plane = first_plane_; plane < last_plane_; ++plane) {
            divide(reinterpret_cast<const T*>(grad_ + plane_offset(plane, 0)), quotients);
            sink.move_to(grad_input_ + plane_offset(plane, 1));
            write(sink, (are_packed_ ? last_plane_ - plane : 1) * elements_);
        }
    }

    static constexpr int kMost = static_cast<int>(pool_scratch::kPlane);
    static_assert(kMost % kPairLanes == 0);

    const int elements_;               // of a plane of grad_input
    const int row_windows_, windows_;  // of a row and a plane of grad_output

  private:
    void prepare_division() {
        uses_reciprocals_ = PoolTile::uses_reciprocals();
        if (plan_.divisor != 0.0f) {
            for (int i = 0; i < kLanes; ++i) set_count(i, plan_.divisor);
            return;
        }
        // Of a plane's rows few differ.
        float count_before = 0.0f;
        for (int at = 0; at < windows_; at += row_windows_) {
            const float count = counted(plan_.height, plan_.count_include_pad, at / row_windows_);
            for (int c = 0; c < row_windows_; ++c) {
                if (count == count_before) {
                    copy_count(at + c, at + c - row_windows_);
                } else {
                    set_count(at + c, count * counted(plan_.width, plan_.count_include_pad, c));
                }
            }
            count_before = count;
        }
        for (int i = windows_; i < windows_ + kLanes; ++i) set_count(i, 1.0f);
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
    void divide(const T* from, float* to) {
        if (factor_ != 0.0f) {
            const Lanes factor = splat(factor_);
            return set_quotients(from, to,
                                 [&](Lanes x, int) AG_INLINE_LAMBDA { return x * factor; });
        }
        if (uses_reciprocals_) {
            TinyLanes tiny;
            set_quotients(from, to, [&](Lanes x, int i) AG_INLINE_LAMBDA {
                if (kMayBeTiny<T>) tiny.look_at(x);
                return by_products(x, load(high_ + i), load(rest_ + i));
            });
            if (!kMayBeTiny<T> || !tiny.found()) return;
        }
        set_quotients(from, to,
                      [&](Lanes x, int i) AG_INLINE_LAMBDA { return x / load(counts_ + i); });
    }
    template <class Quotient>
    AG_INLINE void set_quotients(const T* from, float* to, const Quotient& quotient) {
        const int n = windows_, mask = counts_mask_;
        const uintptr_t ahead = plan_.prefetch;
        int i = 0;
        for (; i + kLanes <= n; i += kLanes) {
            prefetch<Cache::kFirst>(from + i, ahead, 1);
            store_raw(to + i, quotient(load(from + i), i & mask) + Lanes{});
        }
        if (i < n) store_raw(to + i, quotient(load_first(from + i, n - i), i & mask) + Lanes{});
    }

    const bool are_packed_;  // grad_input's planes follow each other
    const int counts_mask_;  // of a window's number: 0 where all counts are the same
    bool uses_reciprocals_ = false;
    alignas(64) float counts_[kMost + kLanes];
    alignas(64) float high_[kMost + kLanes];
    alignas(64) float rest_[kMost + kLanes];
};

}  // namespace
}  // namespace ascend_grad
