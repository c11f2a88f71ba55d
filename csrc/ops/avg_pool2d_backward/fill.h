#pragma once

#include "ops/avg_pool2d_backward/tile.h"

namespace ascend_grad {
namespace {

// One window covers a whole plane: a constant for each.
template <class T>
class PoolFill : public PoolTile<T> {
    using Base = PoolTile<T>;
    using Base::first_plane_;
    using Base::first_row_;
    using Base::grad_;
    using Base::grad_input_;
    using Base::last_plane_;
    using Base::last_row_;
    using Base::plan_;
    using Base::plane_offset;
    using Base::quotient;
    using Base::result_by_mode;
    using Base::streaming_;

    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>;
    typedef Bits Line __attribute__((vector_size(4 * kRegisterLanes)));
    static constexpr int kLine = 4 * kRegisterLanes / static_cast<int>(sizeof(T));

  public:
    using Base::Base;

    void run() {
        const int64_t width = plan_.width.extent;
        const int64_t elements = (last_row_ - first_row_) * width;
        const int64_t skipped = first_row_ * width * static_cast<int64_t>(sizeof(T));
        // Whole planes, one behind the other.
        const bool packed = plan_.planes.count == 1 && plan_.height_tiles == 1 &&
                            plan_.planes.stride[0][0] == static_cast<int64_t>(sizeof(T)) &&
                            plan_.planes.stride[0][1] == elements * static_cast<int64_t>(sizeof(T));
        Sink<T> sink(streaming_, grad_input_ + plane_offset(first_plane_, 1) + skipped);
        for (int64_t plane = first_plane_; plane < last_plane_; plane += kLanes) {
            const int count = static_cast<int>(least(kLanes, last_plane_ - plane));
            float gradients[kLanes] = {};
            if (packed) {
                store_raw(gradients, load_first(reinterpret_cast<const T*>(grad_) + plane, count));
            } else {
                for (int i = 0; i < count; ++i)
                    gradients[i] = to_float(read_element<T>(grad_ + plane_offset(plane + i, 0)));
            }
            T values[kLanes];
            store(values,
                  result_by_mode(Lanes{} + quotient(load(gradients), splat(plan_.divisor))));
            if (packed && elements * kLanes <= Sink<T>::kReserve) {
                fill_together(sink, values, count, static_cast<int>(elements));
                continue;
            }
            for (int i = 0; i < count; ++i) {
                sink.move_to(grad_input_ + plane_offset(plane + i, 1) + skipped);
                for (int64_t done = 0; done < elements; done += Sink<T>::kReserve) {
                    const int n = static_cast<int>(least(Sink<T>::kReserve, elements - done));
                    fill_exactly(sink.reserve(n), values[i], n);
                    sink.commit(n);
                }
            }
        }
    }

  private:
    static AG_INLINE Line line_of(T value) {
        Bits bits;
        std::memcpy(&bits, &value, sizeof(bits));
        return bits - Line{};
    }
    // n elements, rounded up to whole lines.
    static AG_INLINE void fill_lines(T* out, Line line, int n) {
        for (int i = 0; i < n; i += kLine) {
            prefetch_stores(out + i, kLine);
            std::memcpy(out + i, &line, sizeof(line));
        }
    }
    static AG_INLINE void fill_exactly(T* out, T value, int n) {
        const Line line = line_of(value);
        if (n < kLine) {
            std::memcpy(out, &line, static_cast<size_t>(n) * sizeof(T));
            return;
        }
        fill_lines(out, line, n - kLine);
        std::memcpy(out + n - kLine, &line, sizeof(line));
    }
    // Neighbouring planes: each but the last may run over into the next, which is written after it.
    static AG_INLINE void fill_together(Sink<T>& sink, const T* values, int count, int elements) {
        T* out = sink.reserve(count * elements);
        for (int i = 0; i < count; ++i, out += elements) {
            const int left = (count - 1 - i) * elements;
            if (left < kLine) {
                fill_exactly(out, values[i], elements);
                continue;
            }
            fill_lines(out, line_of(values[i]), elements);
        }
        sink.commit(count * elements);
    }
};

}  // namespace
}  // namespace ascend_grad
