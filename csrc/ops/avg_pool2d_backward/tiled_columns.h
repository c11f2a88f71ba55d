#pragma once

#include "isa/interleave.h"
#include "isa/shuffle.h"
#include "ops/avg_pool2d_backward/tile.h"

namespace ascend_grad {
namespace {

// Windows that lie side by side from the first element on: each quotient goes to all of its
// elements at once. What lies behind the last window is zero.
template <class T>
class PoolTiledColumns : public PoolTile<T> {
    using Base = PoolTile<T>;
    using Base::column_;
    using Base::columns_;
    using Base::first_plane_;
    using Base::first_row_;
    using Base::grad_;
    using Base::grad_input_;
    using Base::last_plane_;
    using Base::last_row_;
    using Base::plan_;
    using Base::plane_offset;
    using Base::streaming_;
    using Columns = PickedLine<T>;
    static constexpr auto kSize = static_cast<int64_t>(sizeof(T));
    static constexpr int kLine = Columns::kElements;

  public:
    using Base::Base;

    // Whether windows are two columns wide, and nothing lies behind them; else columns are picked.
    static bool doubles(const AvgPool2dBackward::Plan& plan) { return plan.width.stride == 2; }

    void run() {
        if (!doubles(plan_)) select_columns();
        if (plan_.width_stride[0] == kSize) {
            write_planes<1>();
        } else {
            write_planes<2>();
        }
    }

  private:
    char* address_of_row(int64_t plane, int64_t row) const {
        return grad_input_ + plane_offset(plane, 1) + row * plan_.height_stride[1] +
               column_ * kSize;
    }

    void select_columns() {
        const int stride = static_cast<int>(plan_.width.stride), first = column_ / stride;
        windows_ = static_cast<int>(greatest(plan_.width.windows - first, 0));
        if (stride == stride_) return;
        stride_ = stride;
        for (int i = 0; i < stride * kLine; ++i)
            Columns::set_place(places_[i / kLine], i % kLine, i / stride);
    }
    // Whether the tile's planes lie one behind the other, whole, as if they were one.
    bool planes_follow() const {
        return plan_.planes.count == 1 && plan_.height_tiles * plan_.width_tiles == 1 &&
               plan_.height.windows * plan_.height.stride == plan_.height.extent &&
               plan_.planes.stride[0][0] == plan_.height.windows * plan_.height_stride[0] &&
               plan_.planes.stride[0][1] == plan_.height.extent * plan_.height_stride[1];
    }
    template <int kStep>
    void write_planes() {
        const int64_t stride = plan_.height.stride, row_bytes = plan_.height_stride[1];
        const bool rows_follow = row_bytes == columns_ * kSize;
        // Rows at a time: the sink holds no more.
        const int64_t elements_at_once = streaming_ ? Sink<T>::kReserve - kPairLanes : 1 << 20;
        const int64_t most = rows_follow ? greatest(1, elements_at_once / columns_) : 1;
        const int64_t together = planes_follow() ? last_plane_ - first_plane_ : 1;
        const int64_t last_row = together > 1 ? together * plan_.height.extent : last_row_;
        Sink<T> sink(streaming_, address_of_row(first_plane_, first_row_));
        for (int64_t plane = first_plane_; plane < last_plane_; plane += together) {
            const char* from = grad_ + plane_offset(plane, 0) +
                               column_ / plan_.width.stride * plan_.width_stride[0];
            char* to = address_of_row(plane, first_row_);
            for (int64_t row = first_row_; row < last_row;) {
                const int64_t left = least(most, last_row - row);
                // A window's rows from this one on; of whole windows as many as there are.
                const bool is_behind = row / stride >= together * plan_.height.windows;
                const int64_t repeats = is_behind ? left : least(left, stride - row % stride);
                const int64_t to_last = together * plan_.height.windows - row / stride;
                const int64_t windows = is_behind           ? 0
                                        : repeats == stride ? least(left / stride, to_last)
                                                            : 1;
                const int64_t rows = is_behind ? left : windows * repeats;
                const int elements = static_cast<int>(rows) * columns_;
                sink.move_to(to);
                T* out = sink.reserve(elements + kPairLanes);
                const int64_t writable = streaming_    ? elements + kPairLanes
                                         : rows_follow ? (last_row - row) * columns_
                                                       : elements;
                if (is_behind) {
                    std::memset(out, 0, static_cast<size_t>(elements * kSize));
                } else {
                    const char* const first = from + row / stride * plan_.height_stride[0];
                    stride_ > 0
                        ? write_rows<kStep, true>(first, windows, repeats, out, out + writable)
                        : write_rows<kStep, false>(first, windows, repeats, out, out + writable);
                }
                sink.commit(elements);
                to += rows * row_bytes;
                row += rows;
            }
        }
    }
    // Not inlined, so that constants stay in registers.
    template <int kStep, bool kPicks>
    AG_NOINLINE void write_rows(const char* from, int64_t windows, int64_t repeats, T* out,
                                const T* limit) const {
        if (this->factor_ != 0.0f) {
            const Lanes factor = splat(this->factor_);
            repeat<kStep, kPicks>(from, windows, repeats, out, limit,
                                  [&](Lanes x) AG_INLINE_LAMBDA { return x * factor; });
        } else {
            const Lanes divisor = splat(plan_.divisor);
            repeat<kStep, kPicks>(from, windows, repeats, out, limit,
                                  [&](Lanes x) AG_INLINE_LAMBDA { return x / divisor; });
        }
    }
    template <int kStep, bool kPicks, class Quotient>
    AG_INLINE void repeat(const char* from, int64_t windows, int64_t repeats, T* out,
                          const T* limit, const Quotient& quotient) const {
        const auto value = [&](Lanes x) AG_INLINE_LAMBDA {
            return this->result_by_mode(quotient(this->rounded_by_mode(x)) + Lanes{});
        };
        if constexpr (kPicks) {
            pick_columns<kStep>(from, windows, repeats, out, limit, value);
        } else {
            double_columns<kStep>(from, windows, repeats, out, limit, value);
        }
    }
    // Rows one behind the other. Their last columns come first: the vector may reach over the
    // beginning of the next row, which is written later, but not beyond `limit`.
    template <int kStep, class Value>
    AG_INLINE void double_columns(const char* from, int64_t windows, int64_t repeats, T* out,
                                  const T* limit, const Value& value) const {
        const int64_t stride = plan_.height_stride[0];
        const auto doubled = [&](Lanes x) AG_INLINE_LAMBDA {
            const Lanes result = value(x);
            return pack_interleaved<T>({result, result});
        };
        const int64_t columns = columns_;
        const int last = static_cast<int>((columns - 1) / kPairLanes * kPairLanes);
        const int rest = static_cast<int>(columns) - last;
        // Where masks are not free, whole vectors are read, of rows without gaps between them and
        // not beyond their last element.
        const int64_t row_bytes = columns / 2 * kStep * kSize;
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
            const auto x = doubled(load_last(p));
            T* const next = out + repeats * columns;
            if (next - columns + last + kPairLanes <= limit) {
                store_down(out + last, next, columns, x);
            } else {
                for (T* to = out + last; to < next; to += columns) store_first_packed(to, x, rest);
            }
            for (int c = 0; c < last; c += kPairLanes) {
                const auto y = doubled(load_of<kStep>(p, c / 2));
                store_down(out + c, next, columns, y);
            }
            out = next;
        }
    }

    // The same of windows of any width.
    template <int kStep, class Value>
    AG_INLINE void pick_columns(const char* from, int64_t windows, int64_t repeats, T* out,
                                const T* limit, const Value& value) const {
        const int columns = columns_, wide = stride_ * kPairLanes;
        const int last = (columns - 1) / wide;
        const Lines of_last = lines_of(columns - last * wide), of_others = lines_of(wide);
        for (; windows > 0; --windows, from += plan_.height_stride[0]) {
            const T* p = reinterpret_cast<const T*>(from);
            prefetch<Cache::kFirst>(from, 2048, 1);
            T* const next = out + repeats * columns;
            const auto quotients = [&](int pair) AG_INLINE_LAMBDA {
                const int first = pair * kPairLanes, left = windows_ - first;
                if (left >= kPairLanes + kStep - 1) {
                    const LanePair x = load_pair_of<kStep>(p, first);
                    return pack<T>({value(x.low), value(x.high)});
                }
                const auto load_at = [&](int i) AG_INLINE_LAMBDA {
                    const int n = left - i < kLanes ? left - i : kLanes;
                    return n > 0 ? load_first_of<kStep>(p, first + i, n) : Lanes{};
                };
                return pack<T>({value(load_at(0)), value(load_at(kLanes))});
            };
            pick_columns(quotients(last), of_last, out + last * wide, next, columns,
                         limit - (next - columns + last * wide));
            for (int pair = 0; pair < last; ++pair) {
                pick_columns(quotients(pair), of_others, out + pair * wide, next, columns,
                             limit - (next - columns + pair * wide));
            }
            out = next;
        }
    }
    // The lines of columns that are those of a pair of vectors of quotients.
    struct Lines {
        int last;          // its number
        int group, place;  // where the last one's quotients are, and its places
        int rest;          // columns of the last one
    };
    Lines lines_of(int columns) const {
        const int last = (columns - 1) / kLine;
        return {last, last / stride_, last % stride_, columns - last * kLine};
    }
    // These from `out` on, in rows up to `next`; in the last one so many elements may be written.
    AG_INLINE void pick_columns(const typename Packed<T>::Type& quotients, Lines lines, T* out,
                                const T* next, int64_t columns, int64_t writable) const {
        typename Columns::Type of_pair[kPairLanes / kLine];
        std::memcpy(of_pair, &quotients, sizeof(of_pair));
        const int stride = stride_;
        T* to = out + lines.last * kLine;
        const auto last = Columns::picked(places_[lines.place], of_pair[lines.group]);
        if ((lines.last + 1) * kLine <= writable) {
            store_line_down(to, next, columns, last);
        } else {
            for (; to < next; to += columns)
                std::memcpy(to, &last, static_cast<size_t>(lines.rest * kSize));
        }
        to = out;
        for (int group = 0, i = 0; i < lines.last; ++group) {
            const auto line = of_pair[group];
            for (int place = 0; place < stride && i < lines.last; ++place, ++i, to += kLine)
                store_line_down(to, next, columns, Columns::picked(places_[place], line));
        }
    }
    static AG_INLINE void store_line_down(T* to, const T* end, int64_t columns,
                                          const typename Columns::Type& line) {
        for (; to < end; to += columns) {
            prefetch_stores(to, kLine);
            std::memcpy(to, &line, sizeof(line));
        }
    }

    int windows_ = 0;  // of a row, that reach the tile
    int stride_ = 0;   // columns of each; 0: they are doubled
    // Which windows of a line the lines of columns under it have.
    typename Columns::Type places_[pool_scratch::kMostTiled];
};

}  // namespace
}  // namespace ascend_grad
