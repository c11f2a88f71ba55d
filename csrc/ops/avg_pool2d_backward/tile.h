#pragma once

#include "isa/division.h"
#include "isa/partial.h"
#include "isa/prefetch.h"
#include "isa/stream.h"
#include "isa/strided_run.h"
#include "ops/avg_pool2d_backward/op.h"
#include "ops/avg_pool2d_backward/scratch.h"
#include "ops/avg_pool2d_backward/windows.h"

namespace ascend_grad {
namespace {

// x in the same columns of several rows, up to `end`.
template <class T>
AG_INLINE void store_down(T* first, const T* end, int64_t columns,
                          const typename Packed<T>::Type& x) {
    for (T* to = first; to < end; to += columns) {
        prefetch_stores(to, kPairLanes);
        store_packed(to, x);
    }
}

// Equal rows one behind the other, `vector(c)` being a pair of vectors of columns from c on. The
// last columns come first: their vector may reach over the beginning of the next row, which is
// written later, but not beyond `end`. kNarrow: rows are no longer than a vector.
template <bool kNarrow, class T, class Vector>
AG_INLINE void store_equal_rows(T* out, int rows, int columns, const T* end, const Vector& vector) {
    const int64_t pitch = columns;
    const int last = kNarrow ? 0 : (columns - 1) / kPairLanes * kPairLanes;
    T* const behind = out + rows * pitch;
    const auto x = vector(last);
    if (behind - pitch + last + kPairLanes <= end) {
        store_down(out + last, behind, pitch, x);
    } else {
        for (T* to = out + last; to < behind; to += pitch)
            store_first_packed(to, x, columns - last);
    }
    for (int c = 0; c < last; c += kPairLanes) store_down(out + c, behind, pitch, vector(c));
}

AG_INLINE_UNLESS_COMPACT Lanes round_to_float16(Lanes x) {
    return widen(narrow(x, Float16{}), Float16{});
}
// To HF32's 11 bits of mantissa, to nearest even; infinities and NaN stay.
AG_INLINE_UNLESS_COMPACT Lanes round_to_hf32(Lanes x) {
    return each_register([&](int i) {
        const RegisterBits bits = (RegisterBits)x.r[i];
        const RegisterBits rounded = (bits + 0x7ffu + (bits >> 12 & 1u)) & ~0xfffu;
        return (bits & 0x7f800000u) == 0x7f800000u ? x.r[i] : (Register)rounded;
    });
}

// What the traversals share: the tile of a task and quotients.
class PoolTile {
    using Op = AvgPool2dBackward;

  public:
    PoolTile(const Op::Plan& plan, void* const* addresses, bool streaming)
        : plan_(plan),
          grad_(static_cast<const char*>(addresses[Op::kGradOutput])),
          grad_input_(static_cast<char*>(addresses[Op::kGradInput])),
          streaming_(streaming),
          factor_(reciprocal_if_exact(plan.divisor)) {}

    void select(int64_t task) {
        const auto take = [&](int64_t tiles) {
            const int64_t tile = task % tiles;
            task /= tiles;
            return tile;
        };
        int64_t height_tile, channel_tile, width_tile;
        if (plan_.gathers) {
            // Threads that share each plane would take cache lines from each other.
            height_tile = take(plan_.height_tiles);
            channel_tile = take(plan_.channel_tiles);
            width_tile = take(plan_.width_tiles);
        } else {
            channel_tile = take(plan_.channel_tiles);
            width_tile = take(plan_.width_tiles);
            height_tile = take(plan_.height_tiles);
        }
        first_plane_ = task * plan_.planes_per_task;
        last_plane_ = least(first_plane_ + plan_.planes_per_task, plan_.plane_count);
        column_ = width_tile * plan_.width_tile;
        columns_ =
            static_cast<int>(least(plan_.width_tile, plan_.width.extent - column_) * plan_.pixel);
        first_row_ = height_tile * plan_.height_tile;
        last_row_ = least(first_row_ + plan_.height_tile, plan_.height.extent);
        channel_ = channel_tile * plan_.channel_tile;
        channels_ = static_cast<int>(least(plan_.channel_tile, plan_.channels - channel_));
    }

    // The task's windows lie in a gradient that begins there (StagedGradient).
    void read_from(const char* grad_output) { grad_ = grad_output; }

    int64_t first_plane() const { return first_plane_; }
    int64_t last_plane() const { return last_plane_; }
    int64_t first_row() const { return first_row_; }
    int64_t last_row() const { return last_row_; }

  protected:
    int64_t plane_offset(int64_t plane, int operand) const {
        return plan_.planes.offset(plane, operand);
    }

    // Bytes from one element of a row to the next.
    template <class T>
    int64_t element_stride(int operand) const {
        return plan_.pixel > 1 ? static_cast<int64_t>(sizeof(T)) : plan_.width_stride[operand];
    }
    template <class T>
    AG_INLINE Lanes rounded_by_mode(Lanes x) const {
        if (sizeof(T) == sizeof(float)) {
            if (plan_.mode == Op::Mode::kFloat16) return round_to_float16(x);
            if (plan_.mode == Op::Mode::kHf32) return round_to_hf32(x);
        }
        return x;
    }
    template <class T>
    AG_INLINE Lanes result_by_mode(Lanes x) const {
        return sizeof(T) == sizeof(float) && plan_.mode == Op::Mode::kFloat16 ? round_to_float16(x)
                                                                              : x;
    }
    // Whether every count that elements are divided by has a reciprocal(), and needs one.
    bool uses_reciprocals() const {
        return factor_ == 0.0f &&
               has_reciprocal(plan_.divisor != 0.0f ? plan_.divisor
                                                    : static_cast<float>(plan_.height.kernel) *
                                                          static_cast<float>(plan_.width.kernel));
    }
    // x / divisor; by multiplication where that gives the same bits.
    template <class T>
    AG_INLINE Lanes quotient(Lanes x, Lanes divisor) const {
        x = rounded_by_mode<T>(x);
        if (factor_ != 0.0f) return x * splat(factor_);
        return x / divisor;
    }

    const Op::Plan& plan_;
    const char* grad_;
    char* grad_input_;
    const bool streaming_;
    int64_t first_plane_ = 0, last_plane_ = 0, first_row_ = 0, last_row_ = 0;
    int64_t column_ = 0, channel_ = 0;
    int columns_ = 0;  // elements of a row: those of as many planes as a pixel has
    int channels_ = 0;
    const float factor_;  // 1 / divisor where that is exact, else 0

  private:
    static float reciprocal_if_exact(float divisor) {
        const uint32_t bits = float_bits(divisor);
        return divisor != 0.0f && (bits & 0x7fffffu) == 0 ? 1.0f / divisor : 0.0f;
    }
};

}  // namespace
}  // namespace ascend_grad
