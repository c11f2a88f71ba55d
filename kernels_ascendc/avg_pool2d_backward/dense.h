// Gradients where windows begin at every element and there are as many as columns, so that rows of
// windows and of gradients lie alike: sums over each column first, in few long instructions, then
// over these. Rows one below the other are one; the columns that this gets wrong are made apart.
#pragma once

#include "avg_pool2d_backward/divisors.h"
#include "avg_pool2d_backward/place.h"

namespace kernels {

template <typename T>
class PoolDense : PoolTile<T> {
    using Base = PoolTile<T>;
    using Base::rows_;
    using Base::run_;
    using Base::t_;

  public:
    __aicore__ inline PoolDense(GM_ADDR grad_output, GM_ADDR grad_input,
                                const AvgPool2dBackwardTiling& tiling, TPipe& pipe)
        : Base(grad_output, grad_input, tiling, pipe),
          divisors_(tiling, tiling.divisor_columns, pipe),
          width_(static_cast<uint32_t>(tiling.width)),
          pad_(static_cast<uint32_t>(tiling.pad_width)) {
        if (!divisors_.is_constant()) divisors_.set_columns(0, t_.width);
    }

    __aicore__ inline void run() {
        while (this->next_run()) {
            begin_run();
            while (rows_.end < run_.end) {
                add_windows();
                while (this->next_rows(least(run_.end, end() - t_.pad_height))) {
                    sum_rows();
                    sum_columns();
                    this->store_tile();
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
        const int64_t existing = positions_to(least(last, t_.windows_height));
        if (held_windows_ < existing) {
            const uint32_t count = this->take(t_.margin + held_windows_).columns;
            if (divisors_.is_constant()) divisors_.divide_all(grads(held_windows_), count);
            held_windows_ += count;
            for (; !divisors_.is_constant() && divided_ < end(); ++divided_) {
                divisors_.set_row(divided_);
                divisors_.divide_row(grads(static_cast<uint32_t>(positions_to(divided_))));
            }
        }
        if (held_windows_ >= existing) {
            const uint32_t room = t_.grad_positions - t_.margin - held_windows_;
            const int64_t missing = positions_to(last) - held_windows_;
            const auto count = static_cast<uint32_t>(least(missing, room));
            this->fill(grads(held_windows_), 0.0f, count);
            held_windows_ += count;
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

    // Sums over columns begin behind where they are wanted: an instruction that adds to them later
    // reads a repeat ahead of what it writes.
    __aicore__ inline LocalTensor<float> column_sums() {
        return this->tile_lanes()[t_.lead * kLanes];
    }
    __aicore__ inline uint32_t tile_positions() const {
        return static_cast<uint32_t>(rows_.end - rows_.begin) * width_;
    }

    __aicore__ inline void add(const LocalTensor<float>& to, const LocalTensor<float>& a,
                               const LocalTensor<float>& b, uint32_t positions) {
        PipeBarrier<PIPE_V>();
        place_contiguous(to, a, b, Placing::kSum, positions);
    }

    // The same where `to` begins a repeat or more before `b`, which takes repeats one by one;
    // writes up to three positions more.
    __aicore__ inline void add_ahead(const LocalTensor<float>& to, const LocalTensor<float>& a,
                                     const LocalTensor<float>& b, uint32_t positions) {
        constexpr uint32_t kAtOnce = kPoolRepeatPositions;
        PipeBarrier<PIPE_V>();
        place_repeats(to, a, b, Placing::kSum, kAtOnce, 1, (positions + kAtOnce - 1) / kAtOnce,
                      kAtOnce * kFloatBlocks, kAtOnce * kFloatBlocks);
    }

    // Of the rows of the tile, up to five windows each: of two, of four, then of single rows.
    __aicore__ inline void sum_rows() {
        const uint32_t cover = t_.cover_height, count = tile_positions();
        const uint32_t row = width_ * kLanes;
        const LocalTensor<float> from = grads(rows_before(rows_.begin) * width_);
        const LocalTensor<float> to = column_sums();
        PipeBarrier<PIPE_V>();
        if (cover == 1) {
            place_contiguous(to, from, from, Placing::kCopy, count);
            return;
        }
        add(to, from, from[row], cover < 4 ? count : count + 2 * width_);
        if (cover >= 4) add_ahead(to, to, to[2 * row], count);
        if (cover % 2 == 1) add(to, to, from[(cover - 1) * row], count);
    }

    // The tile, from column_sums(): likewise.
    __aicore__ inline void sum_columns() {
        const uint32_t count = tile_positions(), rows = count / width_, pairs = count + 2;
        const LocalTensor<float> sums = column_sums(), tile = this->tile_lanes();
        // Windows that no tile needs any more.
        const LocalTensor<float> two = this->grads_;
        const LocalTensor<float> left = two[pairs * kLanes], right = left[rows * pad_ * kLanes];
        add(two, sums, sums[kLanes], pairs);
        PipeBarrier<PIPE_V>();
        sum_ends(left, sums, two, rows, 0, pad_ + 1, 0);
        const uint32_t last = width_ - 1 - pad_;
        sum_ends(right, sums, two, rows, last, last - 1, pad_ - 1);
        add_ahead(tile[pad_ * kLanes], two, sums[2 * pad_ * kLanes], count);
        if (pad_ == 2) add(tile[pad_ * kLanes], tile[pad_ * kLanes], two[2 * kLanes], count);
        PipeBarrier<PIPE_V>();
        const Placement ends{pad_, 1, rows, width_, pad_};
        place(tile, left, left, Placing::kCopy, ends);
        place(tile[(width_ - pad_) * kLanes], right, right, Placing::kCopy, ends);
    }

    // Of the pad_ columns at an end of each row: of the outermost, column `at` of `to`, windows
    // [first, first + pad_]; of the other, if any, also window `next`.
    __aicore__ inline void sum_ends(const LocalTensor<float>& to, const LocalTensor<float>& sums,
                                    const LocalTensor<float>& two, uint32_t rows, uint32_t first,
                                    uint32_t next, uint32_t at) {
        const Placement p{1, 1, rows, pad_, width_};
        const LocalTensor<float> begin = two[first * kLanes], outermost = to[at * kLanes];
        if (pad_ == 1) {
            place(outermost, begin, begin, Placing::kCopy, p);
            return;
        }
        place(outermost, begin, sums[(first + 2) * kLanes], Placing::kSum, p);
        PipeBarrier<PIPE_V>();
        place(to[(1 - at) * kLanes], sums[next * kLanes], outermost, Placing::kAdd, p);
    }

    PoolDivisors<Base::kIsNarrow> divisors_;
    const uint32_t width_, pad_;
    int64_t first_;          // row of windows that grads(0) begins with
    uint32_t held_windows_;  // positions there
    int64_t divided_;        // rows of windows, up to there
};

}  // namespace kernels
