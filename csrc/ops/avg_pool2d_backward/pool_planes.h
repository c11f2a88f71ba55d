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
    // x / counts from place i on, +0 for -0; by_products(): where x is not tiny and counts have
    // reciprocals.
    AG_INLINE Lanes divide(Lanes x, int i) const { return x / load(counts_ + i) + Lanes{}; }
    AG_INLINE Lanes by_products(Lanes x, int i) const {
        return ascend_grad::by_products(x, load(high_ + i), load(rest_ + i));
    }

  private:
    alignas(64) float counts_[kMost];
    alignas(64) float high_[kMost];
    alignas(64) float rest_[kMost];
};

// One plane at a time, without gaps in either tensor.
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
    // Calls set(quotient, look_at), and again where products were inexact: quotient(x, i) divides x
    // by the counts from place i on and gives +0 for -0; look_at(look) calls look(tiny), which
    // shows a TinyLanes all that is divided, where that matters.
    template <class Counts, class Set>
    AG_INLINE void divide_by(const Counts& counts, const Set& set) const {
        const auto nothing = [](const auto&) AG_INLINE_LAMBDA {};
        if (factor_ != 0.0f) {
            const Lanes factor = splat(factor_);
            return set([&](Lanes x, int) AG_INLINE_LAMBDA { return x * factor + Lanes{}; },
                       nothing);
        }
        if (uses_reciprocals_) {
            TinyLanes tiny;
            set([&](Lanes x, int i) AG_INLINE_LAMBDA { return counts.by_products(x, i); },
                [&](const auto& look) AG_INLINE_LAMBDA {
                    if (kMayBeTiny<T>) look(tiny);
                });
            if (!kMayBeTiny<T> || !tiny.found()) return;
        }
        set([&](Lanes x, int i) AG_INLINE_LAMBDA { return counts.divide(x, i); }, nothing);
    }
    // Calls function(out, end, rows) for pieces of a plane's results, all but the last of them a
    // multiple of `unit` rows. Nothing may be written from `end` on, which often lies `pitch`
    // elements behind where the last row begins, or farther.
    template <class Function>
    AG_INLINE void each_piece(int64_t writable, Sink<T>& sink, int pitch, int unit,
                              const Function& function) const {
        const auto columns = static_cast<int>(plan_.width.extent);
        const int most = (Sink<T>::kReserve - pitch) / columns / unit * unit;
        for (int left = static_cast<int>(plan_.height.extent), rows; left > 0; left -= rows) {
            rows = left < most ? left : most;
            const int elements = rows * columns;
            T* const out = sink.reserve(elements + pitch);
            function(out, out + (streaming_ ? elements + pitch : writable), rows);
            sink.commit(elements);
            writable -= elements;
        }
    }
    // A pair of vectors of results, whole or its first n elements.
    static AG_INLINE void store_part(T* to, const typename Packed<T>::Type& x, bool is_whole,
                                     int n) {
        if (is_whole) {
            prefetch_stores(to, kPairLanes);
            store_packed(to, x);
        } else {
            store_first_packed(to, x, n);
        }
    }

    const int elements_;  // of a plane of grad_input
    const bool uses_reciprocals_;

  private:
    const bool are_packed_;  // grad_input's planes follow each other
};

}  // namespace
}  // namespace ascend_grad
