// Gradients where windows begin at every element and there are as many as columns, so that rows of
// windows and of gradients lie alike: sums over each column first, in few long instructions, then
// over these. Rows one below the other are one, and so are planes of tall lanes; what this gets
// wrong at their ends is made apart, and so is all of a short row or plane.
#pragma once

#include "avg_pool2d_backward/divisors.h"
#include "avg_pool2d_backward/place.h"

namespace kernels {

template <typename T>
class PoolDense : PoolTile<T> {
    using Base = PoolTile<T>;
    using Base::planes_;
    using Base::rows_;
    using Base::run_;
    using Base::t_;

  public:
    __aicore__ inline PoolDense(GM_ADDR grad_output, GM_ADDR grad_input,
                                const AvgPool2dBackwardTiling& tiling, TPipe& pipe)
        : Base(grad_output, grad_input, tiling, pipe),
          divisors_(tiling, tiling.divisor_columns, pipe),
          width_(static_cast<uint32_t>(tiling.width)),
          height_(static_cast<uint32_t>(tiling.height)) {
        // Sums over columns also take what lies around these.
        this->fill(this->lanes_, 0.0f, t_.tile_positions);
        if (divisors_.is_constant()) return;
        if (divisors_.has_planes()) {
            divisors_.set_planes();
        } else {
            divisors_.set_columns(0, t_.width);
        }
    }

    __aicore__ inline void run() {
        while (this->next_run()) {
            begin_run();
            while (rows_.end < run_.end) {
                add_windows();
                while (this->next_rows(least(run_.end, end() - t_.pad_height))) {
                    sum_rows();
                    sum_columns();
                    this->store_tile(this->grads_);
                }
                keep_windows();
            }
        }
    }

  private:
    __aicore__ inline LocalTensor<float> grads(uint32_t at) {
        return this->grads_[(t_.margin + at) * kLanes];
    }
    // Behind the last whole row of windows that is there.
    __aicore__ inline int64_t end() const { return first_ + held_windows_ / width_; }
    // The first row of windows that a row of gradients needs, from first_ on.
    __aicore__ inline uint32_t rows_before(int64_t row) const {
        return static_cast<uint32_t>(row + t_.pad_height - (t_.cover_height - 1) - first_);
    }

    __aicore__ inline void begin_run() {
        first_ = this->window_rows().begin;
        divided_ = greatest(first_, 0);
        held_windows_ = static_cast<uint32_t>(divided_ - first_) * width_;
        PipeBarrier<PIPE_V>();
        this->fill(grads(0), 0.0f, held_windows_);
    }

    // Appends a load or, where there is none, zeros.
    __aicore__ inline void add_windows() {
        const int64_t last = this->window_rows().end;
        // A run may have more than fit 32 bits.
        const auto positions_to = [&](int64_t row) { return (row - first_) * t_.width; };
        const int64_t existing = positions_to(least(last, planes_ * t_.windows_height));
        if (held_windows_ < existing) {
            const uint32_t count = this->take(t_.margin + held_windows_).columns;
            divide(grads(held_windows_), first_ * t_.width + held_windows_, count);
        }
        if (held_windows_ >= existing) {
            const uint32_t room = t_.grad_positions - t_.margin - held_windows_;
            const int64_t missing = positions_to(last) - held_windows_;
            const auto count = static_cast<uint32_t>(least(missing, room));
            this->fill(grads(held_windows_), 0.0f, count);
            held_windows_ += count;
        }
    }

    // The next `count` windows, position `at` of the run and those that follow.
    __aicore__ inline void divide(const LocalTensor<float>& windows, int64_t at, uint32_t count) {
        held_windows_ += count;
        if (divisors_.is_constant()) {
            divisors_.divide_all(windows, count);
        } else if (divisors_.has_planes()) {
            divisors_.divide_planes(windows, at, count);
        } else {
            for (; divided_ < end(); ++divided_) {
                divisors_.set_row(divided_);
                divisors_.divide_row(grads(static_cast<uint32_t>(divided_ - first_) * width_));
            }
        }
    }

    // Moves what later rows need to the begin.
    __aicore__ inline void keep_windows() {
        if (rows_.end >= run_.end) return;
        const uint32_t shift = rows_before(rows_.end) * width_;
        held_windows_ -= shift;
        this->move(this->grads_, t_.margin, t_.margin + shift, held_windows_);
        first_ += shift / width_;
    }

    __aicore__ inline uint32_t tile_positions() const {
        return static_cast<uint32_t>(rows_.end - rows_.begin) * width_;
    }
    // Sums over the windows of a column; pad_width positions before are those of sum_columns().
    __aicore__ inline LocalTensor<float> column_sums() {
        return this->tile_lanes()[static_cast<uint32_t>(t_.pad_width) * kLanes];
    }

    __aicore__ inline void sum_rows() {
        const uint32_t pad = static_cast<uint32_t>(t_.pad_height), count = tile_positions();
        const uint32_t plane = height_ * width_, before = rows_before(rows_.begin) * width_;
        const bool has_ends = this->is_tall() && pad > 0;
        const Axis axis{height_, pad, width_, {width_, 1, count / plane, plane, plane}};
        if (!has_ends || !axis.is_short())
            slide(column_sums(), grads(before), t_.cover_height, width_, count);
        if (has_ends) sum_ends(column_sums(), grads(before + pad * width_), axis);
    }
    // The tile, to the begin of grads_: over windows that no tile needs any more.
    __aicore__ inline void sum_columns() {
        const uint32_t pad = static_cast<uint32_t>(t_.pad_width), count = tile_positions();
        const Axis axis{width_, pad, 1, {1, 1, count / width_, width_, width_}};
        if (!axis.is_short()) {
            slide(this->grads_, this->tile_lanes(), t_.cover_width, 1, count);
            // What it makes behind the tile, of what nobody wrote, is transposed with it.
            if (Base::kIsNarrow && pad > 1) this->fill(this->grads_[count * kLanes], 0.0f, kLanes);
        }
        sum_ends(this->grads_, column_sums(), axis);
    }

    // `extent` elements `step` positions apart, as often as `p` says.
    struct Axis {
        uint32_t extent, pad, step;
        Placement p;

        // Whether all elements but one at most are made like those at the ends.
        __aicore__ inline bool is_short() const { return extent <= 2 * pad + 3; }
    };

    // to[i] = from[i] + from[i + step] + ..., `terms` of them, i < count, positions: sums of half
    // as many twice, and one more where they are odd. Overwrites what is up to `terms` steps
    // behind.
    __aicore__ inline void slide(LocalTensor<float> to, const LocalTensor<float>& from,
                                 uint32_t terms, uint32_t step, uint32_t count) {
        constexpr uint32_t kAhead = kPoolRepeatPositions;
        PipeBarrier<PIPE_V>();
        if (terms == 1) {
            place_contiguous(to, from, from, Placing::kCopy, count);
            return;
        }
        uint32_t shift = 1;
        while (terms >> (shift + 1) != 0) ++shift;
        // Sums of two or three are doubled to where an instruction has read already.
        const bool is_near = shift > 1 && 2 * step < kAhead;
        LocalTensor<float> sums = is_near ? to[kAhead * kLanes] : to;
        for (; shift > 0; --shift) {
            const uint32_t half = terms >> shift, made = terms >> (shift - 1);
            uint32_t positions = count;  // and those that are doubled to them
            for (uint32_t later = 1; later < shift; ++later) positions += (terms >> later) * step;
            if (half == 1) {
                place_contiguous(sums, from, from[step * kLanes], Placing::kSum, positions);
            } else {
                place_repeats(to, sums, sums[half * step * kLanes], Placing::kSum, kAhead, 1,
                              (positions + kAhead - 1) / kAhead, kAhead * kFloatBlocks,
                              kAhead * kFloatBlocks);
                sums = to;
            }
            PipeBarrier<PIPE_V>();
            if (made % 2 == 0) continue;
            place_contiguous(sums, sums, from[(made - 1) * step * kLanes], Placing::kSum,
                             positions);
            PipeBarrier<PIPE_V>();
        }
    }

    // What slide() gets wrong: the first and the last `pad` elements, whose windows are those
    // inside the axis. All of a short axis: one more at either end, and what is between them. The
    // first element from an end is a sum, each further one of that before it and a window. One
    // place(), since kernels have it inlined.
    __aicore__ inline void sum_ends(const LocalTensor<float>& to, const LocalTensor<float>& from,
                                    const Axis& axis) {
        const uint32_t pad = axis.pad, more = axis.extent - 2 * pad;  // elements between the ends
        const bool is_short = axis.is_short();
        const uint32_t counts[] = {is_short ? pad + 1 : pad, is_short && more > 1 ? pad + 1 : pad,
                                   is_short && more > 2 ? 1u : 0u};
        PipeBarrier<PIPE_V>();
        for (uint32_t part = 0; part < 3; ++part) {
            const bool is_middle = part == 2;
            const uint32_t additions = is_middle ? 2 * pad : pad;
            const auto at = [&](uint32_t i) {
                return (part == 1 ? axis.extent - 1 - i : i) * axis.step * kLanes;
            };
            const uint32_t first = is_middle ? 1 : 0;
            for (uint32_t i = 1; counts[part] > 0 && i < additions + counts[part]; ++i) {
                const uint32_t further = i > additions ? i - additions : 0;
                const LocalTensor<float> sum = to[at(is_middle ? pad + 1 : further)];
                const LocalTensor<float> before = i == 1        ? from[at(first)]
                                                  : further > 0 ? to[at(further - 1)]
                                                                : sum;
                place(sum, from[at(first + i)], before, Placing::kSum, axis.p);
                PipeBarrier<PIPE_V>();
            }
        }
    }

    PoolDivisors<Base::kIsNarrow> divisors_;
    const uint32_t width_, height_;
    int64_t first_;          // row of windows that grads(0) begins with
    uint32_t held_windows_;  // positions there
    int64_t divided_;        // rows of windows, up to there
};

}  // namespace kernels
