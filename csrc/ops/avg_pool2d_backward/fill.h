#pragma once

#include "isa/picked_line.h"
#include "ops/avg_pool2d_backward/tile.h"

namespace ascend_grad {
namespace {

// One window covers a whole plane: a constant for each.
template <class T>
class PoolFill : public PoolTile {
    using Bits = typename Line<T>::Bits;
    static constexpr int kLine = Line<T>::kElements;
    static constexpr int kMostElements = 64;  // of planes that are filled together
    static_assert(kMostElements * kLanes <= Sink<T>::kReserve);

  public:
    PoolFill(const AvgPool2dBackward::Plan& plan, void* const* addresses, bool streaming)
        : PoolTile(plan, addresses, streaming),
          elements_(plan.height_tile * plan.width.extent),
          packed_(plan.planes.count == 1 && plan.height_tiles == 1 &&
                  plan.planes.stride[0][0] == static_cast<int64_t>(sizeof(T)) &&
                  plan.planes.stride[0][1] == elements_ * static_cast<int64_t>(sizeof(T))),
          is_small_(packed_ && elements_ <= kMostElements) {
        if (!Line<T>::kLooksUp || !is_small_) return;
        // An element's place is its plane: its quotient by elements_, exact below 2^11.
        const uint32_t factor = static_cast<uint32_t>(((1 << 20) + elements_ - 1) / elements_);
        const int64_t count = elements_ * least(kLine, plan.plane_count);
        for (uint32_t i = 0; i < count; ++i) places_[i] = static_cast<Bits>(i * factor >> 20);
    }

    void run() {
        const int64_t elements = (last_row_ - first_row_) * plan_.width.extent;
        const int64_t skipped = first_row_ * plan_.width.extent * static_cast<int64_t>(sizeof(T));
        Sink<T> sink(streaming_, grad_input_ + plane_offset(first_plane_, 1) + skipped);
        for (int64_t plane = first_plane_; plane < last_plane_; plane += kPairLanes) {
            const int count = static_cast<int>(least(kPairLanes, last_plane_ - plane));
            T values[kPairLanes];
            store_packed(values, results(plane, count));
            if (Line<T>::kLooksUp && is_small_) {
                for (int i = 0; i < count; i += kLine) {
                    look_up(sink, values + i, static_cast<int>(least(kLine, count - i) * elements));
                }
                continue;
            }
            if (is_small_) {
                for (int i = 0; i < count; i += kLanes) {
                    fill_together(sink, values + i, static_cast<int>(least(kLanes, count - i)),
                                  static_cast<int>(elements));
                }
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
    // Of `count` planes.
    AG_INLINE typename Packed<T>::Type results(int64_t plane, int count) const {
        const Lanes divisor = splat(plan_.divisor);
        LanePair x{};
        if (packed_) {
            const T* from = reinterpret_cast<const T*>(grad_) + plane;
            x = count == kPairLanes ? load_pair(from) : load_first_pair(from, count);
        } else {
            float gradients[kPairLanes] = {};
            for (int i = 0; i < count; ++i)
                gradients[i] = read_as<T>(grad_ + plane_offset(plane + i, 0));
            x = load_pair(gradients);
        }
        return pack<T>({result_by_mode<T>(Lanes{} + quotient<T>(x.low, divisor)),
                        result_by_mode<T>(Lanes{} + quotient<T>(x.high, divisor))});
    }
    // n elements, rounded up to whole lines.
    static AG_INLINE void fill_lines(T* out, typename Line<T>::Type line, int n) {
        for (int i = 0; i < n; i += kLine) {
            prefetch_stores(out + i, kLine);
            std::memcpy(out + i, &line, sizeof(line));
        }
    }
    static AG_INLINE void fill_exactly(T* out, T value, int n) {
        const auto line = Line<T>::of(value);
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
            fill_lines(out, Line<T>::of(values[i]), elements);
        }
        sink.commit(count * elements);
    }
    // n elements of the planes that a register of values is for.
    AG_INLINE void look_up(Sink<T>& sink, const T* values, int n) {
        if constexpr (Line<T>::kLooksUp) {
            const auto line = Line<T>::load(values);
            for (int done = 0; done < n; done += Sink<T>::kReserve) {
                const int piece = static_cast<int>(least(Sink<T>::kReserve, n - done));
                const Bits* places = places_ + done;
                T* out = sink.reserve(piece);
                int i = 0;
                for (; i + kLine <= piece; i += kLine) {
                    const auto filled = Line<T>::looked_up(Line<T>::load(places + i), line, line);
                    std::memcpy(out + i, &filled, sizeof(filled));
                }
                for (; i < piece; ++i) std::memcpy(out + i, values + places[i], sizeof(T));
                sink.commit(piece);
            }
        }
    }

    const int64_t elements_;
    const bool packed_, is_small_;
    alignas(kCacheLine) Bits places_[kMostElements * kLine];
};

}  // namespace
}  // namespace ascend_grad
