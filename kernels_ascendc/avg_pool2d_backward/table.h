// Gradients as sums over a table: the quotients grad_output / divisor of the windows that a tile's
// elements have, with a margin of zeros for windows that do not exist. Sums over neighbouring rows,
// then columns, of the table are sums of whole blocks, since a position is a row of sixteen lanes.
#pragma once

#include "avg_pool2d_backward/divisors.h"
#include "avg_pool2d_backward/place.h"

namespace kernels {

template <typename T>
class PoolTable : PoolTile<T> {
    using Base = PoolTile<T>;
    using Base::columns_;
    using Base::is_fresh_;
    using Base::rows_;
    using Base::t_;

  public:
    __aicore__ inline PoolTable(GM_ADDR grad_output, GM_ADDR grad_input,
                                const AvgPool2dBackwardTiling& tiling, TPipe& pipe)
        : Base(grad_output, grad_input, tiling, pipe),
          divisors_(tiling, tiling.table_columns, pipe),
          size_(static_cast<uint32_t>(tiling.lane_planes) * tiling.table_rows *
                tiling.table_columns) {
        table_ = this->floats(pipe, table_buffer_, size_);
        if (t_.cover_height > 1) row_sums_ = this->floats(pipe, row_sums_buffer_, size_);
        if (t_.cover_width > 2) sums_ = this->floats(pipe, sums_buffer_, size_);
    }

    __aicore__ inline void run() {
        while (this->next_tile()) {
            prepare_table();
            add_rows();
            if (t_.traversal == kPoolFill) {
                spread();
            } else {
                sum();
            }
            this->store_tile();
        }
    }

  private:
    // Row r of plane p is window row rows_.first + r; its first column is window column
    // columns_.first.
    __aicore__ inline uint32_t table_at(int64_t plane, int64_t row, int64_t column) {
        return static_cast<uint32_t>((plane * t_.table_rows + row - rows_.first) *
                                         t_.table_columns +
                                     column - columns_.first) *
               kLanes;
    }

    // Zeros, or the rows that the tile above shares with this one.
    __aicore__ inline void prepare_table() {
        if (!is_fresh_) {
            keep_rows();
        } else if (!is_ready_ || t_.tiles_height * t_.tiles_width > 1) {
            this->fill(table_, 0.0f, size_);
            divisors_.set_columns(columns_.first, columns_.last + 1 - columns_.first);
            is_ready_ = true;
        }
        if (is_fresh_) end_row_ = 0;
        first_ = rows_.first;
    }
    __aicore__ inline void keep_rows() {
        const int64_t shift = rows_.first - first_;
        const int64_t kept = last_ + 1 - rows_.first;
        const uint32_t row = t_.table_columns * kLanes;
        for (int64_t done = 0; shift > 0 && done < kept; done += shift) {
            const uint32_t rows = static_cast<uint32_t>(least(kept - done, shift));
            PipeBarrier<PIPE_V>();
            DataCopy(table_[done * row], table_[(done + shift) * row], rows * row);
        }
    }

    // Loads the rows of windows that the table lacks.
    __aicore__ inline void add_rows() {
        const int64_t end = least(rows_.last + 1, t_.windows_height);
        GradPart part;
        part.first_column = greatest(columns_.first, 0);
        part.end_column = least(columns_.last + 1, t_.windows_width);
        int64_t row = greatest(greatest(rows_.first, end_row_), 0);
        const int64_t step = t_.lane_planes > 1 ? end : t_.load_rows;
        for (; row < end && part.first_column < part.end_column; row += step) {
            part.first_row = row;
            part.end_row = least(row + step, end);
            this->load(part);
            this->widen(part);
            divide(part);
        }
        end_row_ = greatest(end, end_row_);
        // Rows of windows that do not exist, over what older tiles left there.
        const int64_t missing = greatest(t_.windows_height, rows_.first);
        if (!is_fresh_ && rows_.last >= missing) {
            PipeBarrier<PIPE_V>();
            this->fill(table_[table_at(0, missing, columns_.first)], 0.0f,
                       static_cast<uint32_t>(rows_.last + 1 - missing) * t_.table_columns);
        }
        last_ = rows_.last;
    }
    __aicore__ inline void divide(const GradPart& part) {
        const uint32_t columns = static_cast<uint32_t>(part.end_column - part.first_column);
        const uint32_t column = static_cast<uint32_t>(part.first_column - columns_.first);
        for (int64_t row = part.first_row; row < part.end_row; ++row) {
            divisors_.set_row(row);
            for (int64_t plane = 0; plane < t_.lane_planes; ++plane) {
                divisors_.divide(
                    table_[table_at(plane, row, part.first_column)],
                    this->grad_lanes()[this->position(part, plane, row, part.first_column) *
                                       kLanes],
                    column, columns);
            }
        }
    }

    // Every element of a plane is the quotient of its one window.
    __aicore__ inline void spread() {
        constexpr uint32_t kAtOnce = 4;  // positions of a repeat
        const uint32_t positions = static_cast<uint32_t>(t_.height * t_.width);
        const UnaryRepeatParams same(1, 1, kFloatBlocks, 0);
        const UnaryRepeatParams repeated(1, 1, kAtOnce * kFloatBlocks, 0);
        PipeBarrier<PIPE_V>();
        for (uint32_t plane = 0; plane < t_.lane_planes; ++plane) {
            const LocalTensor<float> quotient = table_[table_at(plane, 0, 0)];
            const LocalTensor<float> to =
                this->tile_lanes()[this->tile_position(plane, 0, 0) * kLanes];
            const uint32_t whole = positions / kAtOnce, rest = positions % kAtOnce;
            const uint32_t few = whole > 0 ? kAtOnce : rest;
            Adds(to, quotient, 0.0f, kLanes, static_cast<uint8_t>(few), same);
            if (whole == 0) continue;
            if (rest > 0)
                Adds(to[whole * kAtOnce * kLanes], quotient, 0.0f, kLanes,
                     static_cast<uint8_t>(rest), same);
            PipeBarrier<PIPE_V>();
            for (uint32_t done = 1; done < whole; done += kMaxRepeat) {
                const uint32_t left = whole - done;
                Adds(to[done * kAtOnce * kLanes], to, 0.0f, kAtOnce * kLanes,
                     static_cast<uint8_t>(left < kMaxRepeat ? left : kMaxRepeat), repeated);
            }
        }
    }

    // Windows along an axis that cover elements at distance r from the begin of the last of them.
    __aicore__ inline uint32_t covering(int64_t r, int64_t kernel, int64_t stride, uint32_t limit) {
        return r >= kernel ? 0 : static_cast<uint32_t>(least((kernel - 1 - r) / stride + 1, limit));
    }

    // to[x] = from[x] + from[x + step] + ... of `cover` terms, for the positions x in [first, end)
    // of the table.
    __aicore__ inline void add_neighbours(const LocalTensor<float>& to,
                                          const LocalTensor<float>& from, uint32_t cover,
                                          uint32_t step, uint32_t first, uint32_t end) {
        const LocalTensor<float> sums = to[first * kLanes], terms = from[first * kLanes];
        // Sums that later ones are made of reach further.
        const uint32_t count = end - first;
        const uint32_t doublings = step > 1 ? cover / 4 : 0;
        uint32_t width = 2, reach = count;
        for (uint32_t w = 2; doublings > 0 && 2 * w <= cover; w *= 2) reach += w * step;
        PipeBarrier<PIPE_V>();
        Add(sums, terms, terms[step * kLanes], static_cast<int32_t>(reach * kLanes));
        for (; doublings > 0 && 2 * width <= cover; width *= 2) {
            reach -= width * step;
            add_to_itself(sums, width * step, reach);
        }
        for (; width < cover; ++width) {
            PipeBarrier<PIPE_V>();
            Add(sums, sums, terms[width * step * kLanes], static_cast<int32_t>(count * kLanes));
        }
    }
    // x[i] += x[i + shift], in pieces that do not overlap what they read.
    __aicore__ inline void add_to_itself(const LocalTensor<float>& x, uint32_t shift,
                                         uint32_t count) {
        for (uint32_t at = 0; at < count; at += shift) {
            const LocalTensor<float> to = x[at * kLanes];
            const uint32_t left = count - at;
            PipeBarrier<PIPE_V>();
            Add(to, to, x[(at + shift) * kLanes],
                static_cast<int32_t>((left < shift ? left : shift) * kLanes));
        }
    }

    __aicore__ inline void sum() {
        PipeBarrier<PIPE_V>();
        // Elements that no window covers, and what lies between rows of a narrow tile.
        if (t_.kernel_height < t_.stride_height || t_.kernel_width < t_.stride_width ||
            t_.tiles_width > 1)
            this->fill(
                this->tile_lanes(), 0.0f,
                static_cast<uint32_t>(t_.lane_planes * (rows_.end - rows_.begin)) * t_.tile_pitch);
        const int64_t end = least(rows_.begin + t_.stride_height, rows_.end);
        uint32_t done = 0;
        for (int64_t row = rows_.begin; row < end; ++row) {
            const uint32_t cover = covering((row + t_.pad_height) % t_.stride_height,
                                            t_.kernel_height, t_.stride_height, t_.cover_height);
            if (cover == 0) continue;
            if (cover > 1 && cover != done) {
                // Beyond it no row has so many behind it.
                add_neighbours(row_sums_, table_, cover, t_.table_columns, 0,
                               size_ - (cover - 1) * t_.table_columns);
                done = cover;
            }
            sum_along_width(cover > 1 ? row_sums_ : table_, row,
                            (row + t_.pad_height) / t_.stride_height - (cover - 1));
        }
    }
    // Rows row, row + stride, ... of the tile, from sums over rows of the table from `window` on.
    __aicore__ inline void sum_along_width(const LocalTensor<float>& from, int64_t row,
                                           int64_t window) {
        const int64_t end = least(columns_.begin + t_.stride_width, columns_.end);
        Placement placement;
        placement.step = static_cast<uint32_t>(t_.stride_width);
        placement.rows = static_cast<uint32_t>((rows_.end - 1 - row) / t_.stride_height + 1);
        placement.to_row = static_cast<uint32_t>(t_.stride_height) * t_.tile_pitch;
        placement.from_row = t_.table_columns;
        uint32_t done = 0;
        for (int64_t column = columns_.begin; column < end; ++column) {
            const uint32_t cover = covering((column + t_.pad_width) % t_.stride_width,
                                            t_.kernel_width, t_.stride_width, t_.cover_width);
            if (cover == 0) continue;
            if (cover > 2 && cover != done) {
                const uint32_t begin = table_at(0, window, columns_.first) / kLanes;
                const uint32_t end =
                    table_at(t_.lane_planes - 1, window + placement.rows, columns_.first) / kLanes;
                add_neighbours(sums_, from, cover - 1, 1, begin, end - (cover - 2));
                done = cover;
            }
            placement.columns =
                static_cast<uint32_t>((columns_.end - 1 - column) / t_.stride_width + 1);
            PipeBarrier<PIPE_V>();
            for (int64_t plane = 0; plane < t_.lane_planes; ++plane) {
                const uint32_t last =
                    table_at(plane, window, (column + t_.pad_width) / t_.stride_width);
                const uint32_t first = last - (cover - 1) * kLanes;
                const LocalTensor<float> to =
                    this->tile_lanes()[this->tile_position(plane, row - rows_.begin,
                                                           column - columns_.begin) *
                                       kLanes];
                place(to, (cover > 2 ? sums_ : from)[first], from[last], cover > 1, placement);
            }
        }
    }

    PoolDivisors<Base::kIsNarrow> divisors_;
    const uint32_t size_;  // of the table, positions
    typename Base::Buffer table_buffer_, row_sums_buffer_, sums_buffer_;
    LocalTensor<float> table_, row_sums_, sums_;
    bool is_ready_ = false;
    int64_t first_ = 0, last_ = 0;  // rows of windows in the table
    int64_t end_row_ = 0;           // behind the last row that was loaded
};

}  // namespace kernels
