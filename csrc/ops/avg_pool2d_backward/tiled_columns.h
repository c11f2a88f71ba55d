#pragma once

#include "isa/every_second.h"
#include "isa/interleave.h"
#include "ops/avg_pool2d_backward/picked_columns.h"
#include "ops/avg_pool2d_backward/tile.h"

namespace ascend_grad {
namespace {

// Windows that lie side by side from the first element on: each quotient goes to all of its
// elements at once. What lies behind the last window is zero; of windows two columns wide nothing
// does but rows.
template <class T>
class PoolTiledColumns : public PoolTile {
    using Self = PoolTiledColumns;
    static constexpr auto kSize = static_cast<int64_t>(sizeof(T));
    static_assert(pool_scratch::kTiledColumns + kPairLanes <= Sink<T>::kReserve);

  public:
    PoolTiledColumns(const AvgPool2dBackward::Plan& plan, void* const* addresses, bool streaming)
        : PoolTile(plan, addresses, streaming), picked_(static_cast<int>(plan.width.stride)) {}

    void run() {
        const bool steps = plan_.width_stride[0] != kSize;
        if (plan_.width.stride == 2) {
            write_planes(steps ? &Self::write_rows<2, true> : &Self::write_rows<1, true>);
        } else {
            write_planes(steps ? &Self::write_rows<2, false> : &Self::write_rows<1, false>);
        }
    }

  private:
    // Rows of grad_input that are written in one piece.
    struct RowsOfWindows {
        int64_t count;
        int64_t windows;  // rows of windows that they lie under; 0: behind the last one
        int64_t repeats;  // rows of each
    };
    using WriteRows = void (Self::*)(const char* from, const RowsOfWindows& rows, T* out,
                                     const T* limit) const;

    char* address_of_row(int64_t plane, int64_t row) const {
        return grad_input_ + plane_offset(plane, 1) + row * plan_.height_stride[1] +
               column_ * kSize;
    }

    // Whether the tile's planes lie one behind the other, whole, as if they were one.
    bool planes_follow() const {
        return plan_.planes.count == 1 && plan_.height_tiles * plan_.width_tiles == 1 &&
               plan_.height.windows * plan_.height.stride == plan_.height.extent &&
               plan_.planes.stride[0][0] == plan_.height.windows * plan_.height_stride[0] &&
               plan_.planes.stride[0][1] == plan_.height.extent * plan_.height_stride[1];
    }
    // One for all forms of write_rows(), of which a call uses one.
    AG_NOINLINE void write_planes(WriteRows write_rows) {
        const int64_t row_bytes = plan_.height_stride[1];
        const bool rows_follow = row_bytes == columns_ * kSize;
        // Rows at a time: the sink holds no more.
        const int64_t elements_at_once = streaming_ ? Sink<T>::kReserve - kPairLanes : 1 << 20;
        const int64_t most = rows_follow ? greatest(1, elements_at_once / columns_) : 1;
        const int64_t together = planes_follow() ? last_plane_ - first_plane_ : 1;
        const int64_t last_row = together > 1 ? together * plan_.height.extent : last_row_;
        const int64_t windows = together * plan_.height.windows;
        Sink<T> sink(streaming_, address_of_row(first_plane_, first_row_));
        for (int64_t plane = first_plane_; plane < last_plane_; plane += together) {
            const char* from =
                grad_ + plane_offset(plane, 0) + first_window() * plan_.width_stride[0];
            char* to = address_of_row(plane, first_row_);
            for (int64_t row = first_row_; row < last_row;) {
                const RowsOfWindows rows = rows_from(row, windows, least(most, last_row - row));
                const int elements = static_cast<int>(rows.count) * columns_;
                sink.move_to(to);
                T* out = sink.reserve(elements + kPairLanes);
                const int64_t writable = streaming_    ? elements + kPairLanes
                                         : rows_follow ? (last_row - row) * columns_
                                                       : elements;
                (this->*write_rows)(from + row / plan_.height.stride * plan_.height_stride[0], rows,
                                    out, out + writable);
                sink.commit(elements);
                to += rows.count * row_bytes;
                row += rows.count;
            }
        }
    }
    int64_t first_window() const { return column_ / plan_.width.stride; }

    // At most `most` from one on, of a plane with so many rows of windows: what is left of a
    // window, or as many whole ones as there are.
    RowsOfWindows rows_from(int64_t row, int64_t windows, int64_t most) const {
        const int64_t stride = plan_.height.stride, left = windows - row / stride;
        if (left <= 0) return {most, 0, most};
        const int64_t repeats = least(most, stride - row % stride);
        const int64_t together = repeats == stride ? least(most / stride, left) : 1;
        return {together * repeats, together, repeats};
    }

    // Not inlined, so that constants stay in registers.
    template <int kStep, bool kDoubles>
    AG_NOINLINE void write_rows(const char* from, const RowsOfWindows& rows, T* out,
                                const T* limit) const {
        if (rows.windows == 0) {
            std::memset(out, 0, static_cast<size_t>(rows.count * columns_ * kSize));
        } else if (factor_ != 0.0f) {
            const Lanes factor = splat(factor_);
            repeat<kStep, kDoubles>(from, rows, out, limit,
                                    [&](Lanes x) AG_INLINE_LAMBDA { return x * factor; });
        } else {
            // One division for all elements under a window.
            const Lanes divisor = splat(plan_.divisor);
            repeat<kStep, kDoubles>(from, rows, out, limit,
                                    [&](Lanes x) AG_INLINE_LAMBDA { return x / divisor; });
        }
    }
    template <int kStep, bool kDoubles, class Quotient>
    AG_INLINE void repeat(const char* from, const RowsOfWindows& rows, T* out, const T* limit,
                          const Quotient& quotient) const {
        const auto value = [&](Lanes x) AG_INLINE_LAMBDA {
            return result_by_mode<T>(quotient(rounded_by_mode<T>(x)) + Lanes{});
        };
        if constexpr (kDoubles) {
            double_columns<kStep>(from, rows.windows, rows.repeats, out, limit, value);
        } else {
            pick_columns<kStep>(from, rows.windows, rows.repeats, out, limit, value);
        }
    }
    // Rows one behind the other, up to `limit`.
    template <int kStep, class Value>
    AG_INLINE void double_columns(const char* from, int64_t windows, int64_t repeats, T* out,
                                  const T* limit, const Value& value) const {
        const int64_t stride = plan_.height_stride[0];
        const auto doubled = [&](Lanes x) AG_INLINE_LAMBDA {
            const Lanes result = value(x);
            return pack_interleaved<T>({result, result});
        };
        const int columns = columns_, last = (columns - 1) / kPairLanes * kPairLanes;
        const int rest = columns - last;
        // Where masks are not free, whole vectors are read, of rows without gaps between them and
        // not beyond their last element.
        const int64_t row_bytes = int64_t{columns} / 2 * kStep * kSize;
        const char* const end =
            stride == row_bytes ? from + windows * row_bytes - (kStep - 1) * kSize : from;
        const auto load_last = [&](const T* p) AG_INLINE_LAMBDA {
            const char* const behind =
                reinterpret_cast<const char*>(p) + (last / 2 + kLanes) * kStep * kSize;
            if (kRegisters > 1 && behind <= end) return load_of<kStep>(p, last / 2);
            return load_first_of<kStep>(p, last / 2, rest / 2);
        };
        for (; windows > 0; --windows, from += stride) {
            const T* p = reinterpret_cast<const T*>(from);
            prefetch<Cache::kFirst>(from, 2048, 1);  // measured to gain up to a fifth from memory
            store_equal_rows<false>(
                out, static_cast<int>(repeats), columns, limit, [&](int c) AG_INLINE_LAMBDA {
                    return doubled(c == last ? load_last(p) : load_of<kStep>(p, c / 2));
                });
            out += repeats * columns;
        }
    }

    // The same of windows of any width.
    template <int kStep, class Value>
    AG_INLINE void pick_columns(const char* from, int64_t windows, int64_t repeats, T* out,
                                const T* limit, const Value& value) const {
        const int columns = columns_, wide = picked_.wide(), last = (columns - 1) / wide;
        const auto of_last = picked_.lines_of(columns - last * wide);
        const auto of_others = picked_.lines_of(wide);
        // Of the row, from the tile's first one on.
        const int64_t all = plan_.width.windows - first_window();
        for (; windows > 0; --windows, from += plan_.height_stride[0]) {
            const T* p = reinterpret_cast<const T*>(from);
            prefetch<Cache::kFirst>(from, 2048, 1);  // as above
            T* const next = out + repeats * columns;
            const auto store = [&](int pair, const auto& lines) AG_INLINE_LAMBDA {
                const int column = pair * wide;
                picked_.store(quotients<kStep>(p, pair * kPairLanes, all, value), lines,
                              out + column, next, columns, limit - (next - columns + column));
            };
            store(last, of_last);
            for (int pair = 0; pair < last; ++pair) store(pair, of_others);
            out = next;
        }
    }
    // Of a pair of vectors of windows from `first` on; those from `all` on are none.
    template <int kStep, class Value>
    static AG_INLINE typename Packed<T>::Type quotients(const T* p, int first, int64_t all,
                                                        const Value& value) {
        const int left = static_cast<int>(least(all - first, kPairLanes + kStep - 1));
        if (left == kPairLanes + kStep - 1) {
            const LanePair x = load_pair_of<kStep>(p, first);
            return pack<T>({value(x.low), value(x.high)});
        }
        const auto load_at = [&](int i) AG_INLINE_LAMBDA {
            const int n = left - i < kLanes ? left - i : kLanes;
            return n > 0 ? load_first_of<kStep>(p, first + i, n) : Lanes{};
        };
        return pack<T>({value(load_at(0)), value(load_at(kLanes))});
    }

    const PickedColumns<T> picked_;
};

}  // namespace
}  // namespace ascend_grad
