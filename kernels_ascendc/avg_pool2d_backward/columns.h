// Sums over the windows of a row that cover each column.
#pragma once

#include "avg_pool2d_backward/place.h"

namespace kernels {

// A buffer of that many positions.
struct Scratch {
    LocalTensor<float> lanes;
    uint32_t positions;
};

// to = a term + that `step` positions behind it + ..., `terms` of them. With many, and room for
// them in `scratch`, first the sums of two.
__aicore__ inline void add_terms(const LocalTensor<float>& to, const LocalTensor<float>& from,
                                 uint32_t terms, uint32_t step, const Placement& p,
                                 const LocalTensor<float>& scratch, bool in_pairs) {
    const uint32_t pairs = terms / 2;
    if (in_pairs) {
        PipeBarrier<PIPE_V>();
        place_contiguous(scratch, from, from[step * kLanes], Placing::kSum,
                         (p.rows - 1) * p.from_row + p.columns + 2 * (pairs - 1) * step);
        PipeBarrier<PIPE_V>();
    }
    const LocalTensor<float>& parts = in_pairs ? scratch : from;
    const uint32_t count = in_pairs ? pairs : terms;
    const uint32_t next = (in_pairs ? 2 : 1) * step * kLanes;
    const uint32_t end = in_pairs ? pairs + terms % 2 : terms;
    for (uint32_t i = terms == 1 ? 0 : 1; i < end; ++i) {
        const LocalTensor<float> part =
            i < count ? parts[i * next] : from[(terms - 1) * step * kLanes];
        if (i > 1) PipeBarrier<PIPE_V>();
        place(to, part, i > 1 ? to : parts,
              terms == 1 ? Placing::kCopy
              : i > 1    ? Placing::kAdd
                         : Placing::kSum,
              p);
    }
}

// The same; where the scratch holds the sums of half the rows, one half after the other.
__aicore__ inline void add_up(const LocalTensor<float>& to, const LocalTensor<float>& from,
                              uint32_t terms, uint32_t step, const Placement& p,
                              const Scratch& scratch) {
    const uint32_t reach = p.columns + (terms / 2 - 1) * 2 * step, half = (p.rows + 1) / 2;
    const auto holds = [&](uint32_t rows) {
        return terms >= 4 && (rows - 1) * p.from_row + reach <= scratch.positions;
    };
    Placement part = p;
    if (!holds(p.rows) && holds(half)) part.rows = half;
    for (uint32_t row = 0; row < p.rows; row += half) {
        if (row > 0) part.rows = p.rows - row;
        add_terms(to[row * p.to_row * kLanes], from[row * p.from_row * kLanes], terms, step, part,
                  scratch.lanes, holds(part.rows));
        if (part.rows == p.rows) return;
    }
}

struct Columns {
    int64_t begin, end;                // columns of grad_input
    int64_t first_window, end_window;  // that exist
    int64_t first_loaded;              // the window that rows of windows begin with
    int64_t kernel, stride, pad;
    uint32_t cover;  // windows of a column, at most
    uint32_t from_row, to_row;
    LocalTensor<float> from, to;
    uint32_t from_at;  // position of the first row of windows
    Scratch scratch;

    // `rows` rows of sums from as many rows of windows. Instructions may also take positions up to
    // `cover` before and behind those.
    __aicore__ inline void sum(uint32_t rows) const {
        PipeBarrier<PIPE_V>();
        // Columns that are `stride` apart have as many windows.
        for (int64_t column = begin; column < end && column < begin + stride; ++column) {
            const int64_t distance = (column + pad) % stride;
            if (distance >= kernel) continue;
            const int64_t terms = least((kernel - 1 - distance) / stride + 1, cover);
            sum_every(column, rows, (column + pad) / stride - (terms - 1), terms);
        }
        PipeBarrier<PIPE_V>();
    }

  private:
    // Columns stride apart from `column` on: column i has the windows from `window` + i on.
    __aicore__ inline void sum_every(int64_t column, uint32_t rows, int64_t window,
                                     int64_t terms) const {
        const int64_t count = (end - 1 - column) / stride + 1;
        // All windows of columns [left, right) exist.
        const int64_t left = least(greatest(first_window - window, 0), count);
        const int64_t right = greatest(least(end_window - (window + terms - 1), count), left);
        Placement p{static_cast<uint32_t>(right - left), static_cast<uint32_t>(stride), rows,
                    to_row, from_row};
        int64_t first = left;
        // Rows of windows that become rows of the same length, up to the step, are one long row:
        // columns at its borders are wrong first.
        if (count == from_row && to_row == p.step * from_row && right > left) {
            p.columns = from_row;
            first = 0;
        }
        if (p.columns > 0)
            add_up(column_at(column + first * stride), window_at(window + first),
                   static_cast<uint32_t>(terms), 1, p, scratch);
        p.columns = p.step = 1;
        for (int64_t k = 0; k < left + count - right; ++k) {
            const bool at_left = k < left;
            // From the border on each column has one window more than the one before, or as many.
            const int64_t i = at_left ? k : count - 1 - (k - left);
            const int64_t more = window + i + (at_left ? terms - 1 : 0);
            const int64_t first = greatest(window + i, first_window);
            const int64_t behind = least(window + i + terms, end_window);
            const LocalTensor<float> sums = column_at(column + i * stride);
            PipeBarrier<PIPE_V>();
            if (first >= behind) {
                clear(sums, rows);
            } else if (k == 0 || k == left || behind - first == 1) {
                add_up(sums, window_at(first), static_cast<uint32_t>(behind - first), 1, p, {});
            } else {
                const bool exists = more >= first_window && more < end_window;
                const LocalTensor<float> before =
                    column_at(column + (at_left ? i - 1 : i + 1) * stride);
                p.from_row = exists ? from_row : to_row;
                place(sums, exists ? window_at(more) : before, before,
                      exists ? Placing::kAdd : Placing::kCopy, p);
                p.from_row = from_row;
            }
        }
    }

    // One position of each row.
    __aicore__ inline void clear(const LocalTensor<float>& sums, uint32_t rows) const {
        const bool far = to_row * kFloatBlocks > kMaxBlockStride;
        const uint32_t at_once = far ? 1 : kMaxRepeat;
        const auto step = static_cast<uint8_t>(far ? 0 : to_row * kFloatBlocks);
        for (uint32_t row = 0; row < rows; row += at_once) {
            const uint32_t left = rows - row;
            Duplicate(sums[row * to_row * kLanes], 0.0f, static_cast<uint64_t>(kLanes),
                      static_cast<uint8_t>(left < at_once ? left : at_once), 1, step);
        }
    }

    __aicore__ inline LocalTensor<float> column_at(int64_t column) const {
        return to[static_cast<uint32_t>(column - begin) * kLanes];
    }
    __aicore__ inline LocalTensor<float> window_at(int64_t window) const {
        return from[static_cast<uint32_t>(from_at + window - first_loaded) * kLanes];
    }
};

}  // namespace kernels
