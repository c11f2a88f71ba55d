#pragma once

#include "isa/interleave.h"
#include "isa/shuffle.h"
#include "ops/avg_pool2d_backward/tile.h"

namespace ascend_grad {
namespace {

// Windows two columns wide that neither overlap nor leave gaps: each quotient goes to all of its
// elements at once.
template <class T>
class PoolDoubledColumns : public PoolTile<T> {
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
    static constexpr auto kSize = static_cast<int64_t>(sizeof(T));

  public:
    using Base::Base;

    void run() {
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

    // Whether the tile's planes lie one behind the other, whole, as if they were one.
    bool planes_follow() const {
        return plan_.planes.count == 1 && plan_.height_tiles * plan_.width_tiles == 1 &&
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
            const char* from = grad_ + plane_offset(plane, 0) + column_ / 2 * plan_.width_stride[0];
            char* to = address_of_row(plane, first_row_);
            for (int64_t row = first_row_; row < last_row;) {
                const int64_t left = least(most, last_row - row);
                // A window's rows from this one on; of whole windows as many as there are.
                const int64_t repeats = least(left, stride - row % stride);
                const int64_t windows = repeats == stride ? left / stride : 1;
                const int64_t rows = windows * repeats;
                const int elements = static_cast<int>(rows) * columns_;
                sink.move_to(to);
                T* out = sink.reserve(elements + kPairLanes);
                const int64_t writable = streaming_    ? elements + kPairLanes
                                         : rows_follow ? (last_row - row) * columns_
                                                       : elements;
                write_rows<kStep>(from + row / stride * plan_.height_stride[0], windows, repeats,
                                  out, out + writable);
                sink.commit(elements);
                to += rows * row_bytes;
                row += rows;
            }
        }
    }
    template <int kStep>
    void write_rows(const char* from, int64_t windows, int64_t repeats, T* out,
                    const T* limit) const {
        const int64_t stride = plan_.height_stride[0];
        if (this->factor_ != 0.0f) {
            const Lanes factor = splat(this->factor_);
            repeat<kStep>(from, stride, windows, repeats, out, limit,
                          [&](Lanes x) AG_INLINE_LAMBDA { return x * factor; });
        } else {
            const Lanes divisor = splat(plan_.divisor);
            repeat<kStep>(from, stride, windows, repeats, out, limit,
                          [&](Lanes x) AG_INLINE_LAMBDA { return x / divisor; });
        }
    }
    // Rows one behind the other. Their last columns come first: the vector may reach over the
    // beginning of the next row, which is written later, but not beyond `limit`.
    template <int kStep, class Quotient>
    AG_INLINE void repeat(const char* from, int64_t stride, int64_t windows, int64_t repeats,
                          T* out, const T* limit, const Quotient& quotient) const {
        const auto doubled = [&](Lanes x) AG_INLINE_LAMBDA {
            const Lanes value = this->result_by_mode(quotient(this->rounded_by_mode(x)) + Lanes{});
            return pack_interleaved<T>({value, value});
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
};

}  // namespace
}  // namespace ascend_grad
