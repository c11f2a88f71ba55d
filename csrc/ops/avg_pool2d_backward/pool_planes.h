#pragma once

#include "ops/avg_pool2d_backward/tile.h"

namespace ascend_grad {
namespace {

// What vectors of elements are divided by: kMost places.
template <int kMost>
class PoolCounts {
  public:
    void set(int i, float count, bool uses_reciprocals) {
        counts_[i] = count;
        if (!uses_reciprocals) return;
        const Reciprocal r = reciprocal(count);
        high_[i] = r.high;
        rest_[i] = r.rest;
    }
    void copy(int to, int from, bool uses_reciprocals) {
        counts_[to] = counts_[from];
        if (!uses_reciprocals) return;
        high_[to] = high_[from];
        rest_[to] = rest_[from];
    }
    // x / counts from place i on, +0 for -0. By products: unless x is tiny.
    AG_INLINE Lanes divide(Lanes x, int i) const { return x / load(counts_ + i) + Lanes{}; }
    AG_INLINE Lanes by_products(Lanes x, int i) const {
        return ascend_grad::by_products(x, load(high_ + i), load(rest_ + i));
    }

  private:
    alignas(64) float counts_[kMost];
    alignas(64) float high_[kMost];
    alignas(64) float rest_[kMost];
};

// One plane at a time, without gaps in both tensors.
template <class T>
class PoolPlanes : public PoolTile {
    using Op = AvgPool2dBackward;

  protected:
    PoolPlanes(const Op::Plan& plan, void* const* addresses, bool streaming)
        : PoolTile(plan, addresses, streaming),
          elements_(static_cast<int>(plan.height.extent * plan.width.extent)),
          uses_reciprocals_(PoolTile::uses_reciprocals()),
          are_packed_(plan.planes.count == 0 ||
                      (plan.planes.count == 1 &&
                       plan.planes.stride[0][1] == elements_ * static_cast<int64_t>(sizeof(T)))) {}

    // For each plane of the tile calls write(from, sink, writable): from the plane's first result
    // on, so many elements may be written.
    template <class Write>
    AG_INLINE void each_plane(const Write& write) {
        Sink<T> sink(streaming_, grad_input_ + plane_offset(first_plane_, 1));
        for (int64_t plane = first_plane_; plane < last_plane_; ++plane) {
            sink.move_to(grad_input_ + plane_offset(plane, 1));
            write(reinterpret_cast<const T*>(grad_ + plane_offset(plane, 0)), sink,
                  (are_packed_ ? last_plane_ - plane : 1) * elements_);
        }
    }
    // Calls set(quotient), and again where products were inexact: quotient(x, i) divides x by the
    // counts from place i on and gives +0 for -0.
    template <class Counts, class Set>
    AG_INLINE void divide_by(const Counts& counts, const Set& set) const {
        if (factor_ != 0.0f) {
            const Lanes factor = splat(factor_);
            return set([&](Lanes x, int) AG_INLINE_LAMBDA { return x * factor + Lanes{}; });
        }
        if (uses_reciprocals_) {
            TinyLanes tiny;
            set([&](Lanes x, int i) AG_INLINE_LAMBDA {
                if (kMayBeTiny<T>) tiny.look_at(x);
                return counts.by_products(x, i);
            });
            if (!kMayBeTiny<T> || !tiny.found()) return;
        }
        set([&](Lanes x, int i) AG_INLINE_LAMBDA { return counts.divide(x, i); });
    }

    const int elements_;  // of a plane of grad_input
    const bool uses_reciprocals_;

  private:
    const bool are_packed_;  // grad_input's planes follow each other
};

}  // namespace
}  // namespace ascend_grad
