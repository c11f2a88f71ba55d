#pragma once

#include "ops/avg_pool2d_backward/tile.h"

namespace ascend_grad {
namespace {

// One window covers a whole plane: a constant for each.
template <class T>
class PoolFill : public PoolTile<T> {
    using Op = AvgPool2dBackward;
    using Base = PoolTile<T>;
    using Base::first_plane_;
    using Base::grad_;
    using Base::grad_input_;
    using Base::last_plane_;
    using Base::plan_;
    using Base::plane_offset;
    using Base::quotient;
    using Base::result_by_mode;
    using Base::streaming_;

  public:
    using Base::Base;

    void run() {
        const int64_t elements = plan_.height.extent * plan_.width.extent;
        const bool packed = plan_.planes.count == 1 &&
                            plan_.planes.stride[0][0] == static_cast<int64_t>(sizeof(T)) &&
                            plan_.planes.stride[0][1] == elements * static_cast<int64_t>(sizeof(T));
        Sink<T> sink(streaming_, grad_input_ + plane_offset(first_plane_, 1));
        for (int64_t plane = first_plane_; plane < last_plane_; plane += kLanes) {
            const int count = static_cast<int>(least(kLanes, last_plane_ - plane));
            float values[kLanes] = {};
            if (packed) {
                store_raw(values, load_first(reinterpret_cast<const T*>(grad_) + plane, count));
            } else {
                for (int i = 0; i < count; ++i)
                    values[i] = to_float(read_element<T>(grad_ + plane_offset(plane + i, 0)));
            }
            store_raw(values,
                      result_by_mode(Lanes{} + quotient(load(values), splat(plan_.divisor))));
            if (packed && elements * kLanes <= Sink<T>::kReserve) {
                fill_together(sink, values, count, static_cast<int>(elements));
                continue;
            }
            for (int i = 0; i < count; ++i) {
                sink.move_to(grad_input_ + plane_offset(plane + i, 1));
                for (int64_t done = 0; done < elements; done += Sink<T>::kReserve) {
                    const int n = static_cast<int>(least(Sink<T>::kReserve, elements - done));
                    T* out = sink.reserve(n);
                    fill_exactly(out, splat(values[i]), n);
                    sink.commit(n);
                }
            }
        }
    }

  private:
    static AG_INLINE void fill_exactly(T* out, Lanes value, int n) {
        int i = 0;
        for (; i + kLanes <= n; i += kLanes) store(out + i, value);
        if (i < n) store_first(out + i, value, n - i);
    }
    // Neighbouring planes: each but the last may run over into the next, which is written after it.
    static void fill_together(Sink<T>& sink, const float* values, int count, int elements) {
        T* out = sink.reserve(count * elements);
        for (int i = 0; i < count; ++i, out += elements) {
            const int left = (count - 1 - i) * elements;
            if (left < kLanes) {
                fill_exactly(out, splat(values[i]), elements);
                continue;
            }
            for (int k = 0; k < elements; k += kLanes) store(out + k, splat(values[i]));
        }
        sink.commit(count * elements);
    }
};

}  // namespace
}  // namespace ascend_grad
