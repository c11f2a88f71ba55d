// Planes one behind the other under windows that do not overlap: lines of elements, across the ends
// of rows, are picked from the quotients of their planes.
#pragma once

#include "isa/picked_line.h"
#include "ops/avg_pool2d_backward/tile.h"

namespace ascend_grad {
namespace {

template <class T>
class PoolPickedPlanes : public PoolTile {
    using Line = PickedLine<T>;
    static constexpr int kLine = Line::kElements;
    static_assert(pool_scratch::kPickedWindows <= Line::kReach);

  public:
    PoolPickedPlanes(const AvgPool2dBackward::Plan& plan, void* const* addresses, bool streaming)
        : PoolTile(plan, addresses, streaming),
          elements_(static_cast<int>(plan.height.extent * plan.width.extent)),
          windows_(static_cast<int>(plan.height.windows * plan.width.windows)) {
        set_places();
    }

    void run() {
        Sink<T> sink(streaming_, grad_input_ + plane_offset(first_plane_, 1));
        const int64_t most = kMost / windows_;
        for (int64_t plane = first_plane_, count; plane < last_plane_; plane += count) {
            count = least(most, last_plane_ - plane);
            divide(reinterpret_cast<const T*>(grad_ + plane_offset(plane, 0)),
                   static_cast<int>(count) * windows_);
            for (int64_t i = 0; i < count; ++i)
                write(quotients_ + i * windows_, (last_plane_ - plane - i) * elements_, sink);
        }
    }

  private:
    static constexpr int kMost = static_cast<int>(pool_scratch::kPlane);
    static constexpr int kPiece = Sink<T>::kReserve - kLine;
    static_assert(kPiece % kLine == 0);

    // The window of an axis that covers its element i, or -1.
    static int window_of(const PoolAxis& axis, int64_t i) {
        const int64_t at = i + axis.pad, window = least(at / axis.stride, axis.windows - 1);
        return at - window * axis.stride < axis.kernel ? static_cast<int>(window) : -1;
    }
    void set_places() {
        const int columns = static_cast<int>(plan_.width.extent);
        const int row_windows = static_cast<int>(plan_.width.windows);
        int of_column[pool_scratch::kPickedColumns], of_row = 0;
        for (int c = 0; c < columns; ++c) of_column[c] = window_of(plan_.width, c);
        int row = 0, column = columns;
        for (int line = 0, left = elements_; left > 0; ++line, left -= kLine) {
            const int n = left < kLine ? left : kLine;
            int window[kLine], first = windows_;
            for (int i = 0; i < n; ++i, ++column) {
                if (column == columns) {
                    of_row = window_of(plan_.height, row++);
                    column = 0;
                }
                const int of = of_column[column];
                window[i] = of_row < 0 || of < 0 ? -1 : of_row * row_windows + of;
                if (window[i] >= 0 && window[i] < first) first = window[i];
            }
            first_window_[line] = first;
            places_[line] = Line::none();
            for (int i = 0; i < n; ++i) {
                if (window[i] >= 0) Line::set_place(places_[line], i, window[i] - first);
            }
        }
    }

    // Sets n quotients, as results.
    void divide(const T* from, int n) {
        const Lanes divisor = splat(plan_.divisor);
        const auto value = [&](Lanes x) AG_INLINE_LAMBDA {
            return result_by_mode<T>(Lanes{} + quotient<T>(x, divisor));
        };
        const auto set = [&](int i, LanePair x) AG_INLINE_LAMBDA {
            store_packed(quotients_ + i, pack<T>({value(x.low), value(x.high)}));
        };
        const uintptr_t ahead = plan_.prefetch;
        int i = 0;
        for (; i + kPairLanes <= n; i += kPairLanes) {
            prefetch<Cache::kFirst>(from + i, ahead, kPairLanes * static_cast<int>(sizeof(T)));
            set(i, load_pair(from + i));
        }
        if (i < n) set(i, load_first_pair(from + i, n - i));
    }
    // A plane's results. From its first element on, `writable` may be written.
    void write(const T* quotients, int64_t writable, Sink<T>& sink) const {
        const auto* places = places_;
        const int* first_window = first_window_;
        const int elements = elements_;
        for (int done = 0; done < elements; done += kPiece) {
            const int n = static_cast<int>(least(kPiece, elements - done));
            T* const out = sink.reserve(n + kLine);
            const int64_t room = streaming_ ? n + kLine : writable - done;
            for (int i = 0; i < n; i += kLine) {
                const auto line = Line::picked_from(*places++, quotients + *first_window++);
                if (i + kLine <= room) {
                    prefetch_stores(out + i, kLine);
                    std::memcpy(out + i, &line, sizeof(line));
                } else {
                    std::memcpy(out + i, &line, sizeof(T) * static_cast<size_t>(n - i));
                }
            }
            sink.commit(n);
        }
    }

    const int elements_, windows_;  // of a plane
    // Of the lines of a plane: the first window that one needs, and where from there the others
    // are.
    int first_window_[kMost / kLine];
    typename Line::Type places_[kMost / kLine];
    // As elements of grad_input, of some planes; a line is read from the last one on.
    alignas(64) T quotients_[kMost + kPairLanes + kLine + Line::kReach];
};

}  // namespace
}  // namespace ascend_grad
