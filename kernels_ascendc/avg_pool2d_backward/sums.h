// Gradients as sums of the quotients grad_output / divisor: of the windows over each column, row of
// windows by row of windows as they come in, then of these sums over each row. A position is a row
// of sixteen lanes, so that sums over neighbours are sums of whole blocks.
#pragma once

#include "avg_pool2d_backward/columns.h"
#include "avg_pool2d_backward/divisors.h"

namespace kernels {

template <typename T>
class PoolSums : PoolTile<T> {
    using Base = PoolTile<T>;
    using Base::columns_;
    using Base::planes_;
    using Base::rows_;
    using Base::run_;
    using Base::t_;
    using Base::windows_;

  public:
    __aicore__ inline PoolSums(GM_ADDR grad_output, GM_ADDR grad_input,
                               const AvgPool2dBackwardTiling& tiling, TPipe& pipe)
        : Base(grad_output, grad_input, tiling, pipe),
          divisors_(tiling, tiling.divisor_columns, pipe),
          plane_sums_(tiling.sum_rows * tiling.tile_pitch) {
        const uint32_t positions = static_cast<uint32_t>(t_.lane_planes) * plane_sums_;
        sums_ = this->floats(pipe, sums_buffer_, positions);
        // What no window covers stays as it is here.
        this->fill(sums_, 0.0f, positions);
    }

    __aicore__ inline void run() {
        while (this->next_run()) {
            begin_run();
            while (rows_.end < run_.end) {
                add_windows();
                while (this->next_rows(ready())) {
                    sum_rows();
                    this->store_tile(this->tile_lanes());
                }
                keep_sums();
            }
        }
    }

  private:
    __aicore__ inline bool takes_whole_rows() const { return t_.traversal != kPoolParts; }
    __aicore__ inline bool takes_whole_planes() const { return t_.traversal == kPoolPlanes; }
    // Whole planes whose sums lie one below the other are one tall plane; else each is alone.
    __aicore__ inline uint32_t stacked_planes() const {
        return t_.apart_end == 0 ? static_cast<uint32_t>(planes_) : 1;
    }
    // Behind the rows of windows that exist.
    __aicore__ inline int64_t end_of_windows() const { return least(last_, t_.windows_height); }
    // Rows of the run, up to there, have all their windows in sums_.
    __aicore__ inline int64_t ready() const {
        return end_ == last_ ? run_.end : least(run_.end, end_ * t_.stride_height - t_.pad_height);
    }

    __aicore__ inline void begin_run() {
        const PoolRange windows = this->window_rows();
        first_ = windows.begin;
        last_ = windows.end;
        end_ = greatest(first_, 0);
        waiting_ = 0;
        pitch_ = static_cast<uint32_t>(t_.grad_width);
        if (t_.traversal == kPoolColumns) pitch_ = t_.lane_pitch;
        if (!takes_whole_rows()) {
            pitch_ = round_up(static_cast<uint32_t>(windows_.end - windows_.begin), kBlock<T>);
            PipeBarrier<PIPE_V>();
            this->fill(sums_, 0.0f, plane_sums_);
        } else if (!takes_whole_planes()) {
            PipeBarrier<PIPE_V>();
            this->fill(sums_, 0.0f, static_cast<uint32_t>(end_ - first_) * t_.tile_pitch);
        }
        if (!divisors_.is_constant() && windows_.begin < windows_.end && !is_ready_) {
            if (t_.traversal == kPoolColumns) {
                divisors_.set_lanes(t_.windows_before, t_.lane_windows, t_.lane_pitch);
            } else if (divisors_.has_planes()) {
                divisors_.set_planes();
            } else {
                divisors_.set_columns(windows_.begin, windows_.end - windows_.begin);
            }
            is_ready_ = takes_whole_rows();
        }
    }

    // Appends rows of sums over columns.
    __aicore__ inline void add_windows() {
        if (end_ >= end_of_windows() || windows_.begin >= windows_.end) {
            // No windows, no sums.
            const int64_t rows = least(last_ - end_, t_.sum_rows - (end_ - first_));
            PipeBarrier<PIPE_V>();
            this->fill(sums_[sums_at(end_)], 0.0f, static_cast<uint32_t>(rows) * t_.tile_pitch);
            end_ += rows;
            return;
        }
        waiting_ += load(waiting_);
        const bool whole = takes_whole_planes();
        const uint32_t plane = whole ? static_cast<uint32_t>(t_.grad_height) * pitch_ : 0;
        const uint32_t rows = whole ? static_cast<uint32_t>(t_.windows_height) : waiting_ / pitch_;
        const bool by_rows = !divisors_.is_constant() && !divisors_.has_planes();
        if (divisors_.has_planes())
            divisors_.divide_planes(grads(0), 0, static_cast<uint32_t>(planes_) * plane);
        for (uint32_t row = 0; row < rows && by_rows; ++row) {
            divisors_.set_row(end_ + row);
            for (uint32_t p = 0; p < planes_; ++p)
                divisors_.divide_row(grads(p * plane + row * pitch_));
        }
        if (rows > 0) sum_columns_of_planes(rows);
        end_ = whole ? last_ : end_ + rows;
        // What a load holds beyond whole rows waits for the next.
        waiting_ = whole ? 0 : waiting_ - rows * pitch_;
        this->move(this->grads_, t_.margin, t_.margin + rows * pitch_, waiting_);
    }

    // Of the rows of windows that were loaded, `rows` of each plane.
    __aicore__ inline void sum_columns_of_planes(uint32_t rows) {
        if (t_.apart_end == 0) {
            sum_columns(sums_[sums_at(end_)], static_cast<uint32_t>(planes_) * rows, t_.scratch);
            return;
        }
        // One below the other, and from there to their places.
        const LocalTensor<float> sums = this->tile_lanes();
        const uint32_t height = static_cast<uint32_t>(t_.grad_height);
        const uint32_t all = static_cast<uint32_t>(planes_) * height;
        if (t_.kernel_width < t_.stride_width) {  // some columns no window covers
            PipeBarrier<PIPE_V>();
            this->fill(sums, 0.0f, all * t_.tile_pitch);
        }
        sum_columns(sums, all, t_.apart_end);
        place(sums_[sums_at(end_)], sums, sums, Placing::kCopy,
              {rows * t_.tile_pitch, 1, static_cast<uint32_t>(planes_), plane_sums_,
               height * t_.tile_pitch});
        PipeBarrier<PIPE_V>();
    }

    // To positions of grads() from `at` on; returns how many.
    __aicore__ inline uint32_t load(uint32_t at) {
        const LanesShape shape = this->take(t_.margin + at);
        const uint32_t count =
            shape.rows * (t_.traversal == kPoolColumns ? t_.lane_pitch : shape.row_pitch);
        if (divisors_.is_constant()) divisors_.divide_all(grads(at), count);
        return count;
    }
    __aicore__ inline LocalTensor<float> grads(uint32_t at) {
        return this->grads_[(t_.margin + at) * kLanes];
    }

    // Where the sums of that row of windows begin, floats.
    __aicore__ inline uint32_t sums_at(int64_t row) const {
        return static_cast<uint32_t>(row - first_) * t_.tile_pitch * kLanes;
    }

    // Sums of the first `rows` rows of grads(). Overwrites lanes_ from position `scratch` on.
    __aicore__ inline void sum_columns(const LocalTensor<float>& to, uint32_t rows,
                                       uint32_t scratch) {
        Columns columns;
        columns.begin = columns_.begin;
        columns.end = columns_.end;
        columns.first_window = windows_.begin;
        columns.end_window = windows_.end;
        columns.first_loaded = takes_whole_rows() ? 0 : windows_.begin;
        if (t_.traversal == kPoolColumns) {
            // Of each lane, as if windows went on at both sides; columns of two lanes count once.
            constexpr int64_t kFar = 1 << 30;
            columns.begin = 0;
            columns.end = t_.tile_pitch;
            columns.first_window = -kFar;
            columns.end_window = kFar;
            columns.first_loaded = -static_cast<int64_t>(t_.windows_before);
        }
        columns.kernel = t_.kernel_width;
        columns.stride = t_.stride_width;
        columns.pad = t_.pad_width;
        columns.cover = t_.cover_width;
        columns.from_row = pitch_;
        columns.to_row = t_.tile_pitch;
        columns.from = this->grads_;
        columns.from_at = t_.margin;
        columns.to = to;
        columns.scratch = {this->lanes_[scratch * kLanes], t_.tile_positions - scratch};
        columns.sum(rows);
    }

    // The tile, from sums_.
    __aicore__ inline void sum_rows() {
        const int64_t end = least(rows_.begin + t_.stride_height, rows_.end);
        const uint32_t tile_rows = static_cast<uint32_t>(rows_.end - rows_.begin);
        PipeBarrier<PIPE_V>();
        if (t_.kernel_height < t_.stride_height) {
            this->fill(this->tile_lanes(), 0.0f,
                       static_cast<uint32_t>(planes_) * tile_rows * t_.tile_pitch);
            PipeBarrier<PIPE_V>();
        }
        // Gradients that are summed up.
        const uint32_t used = t_.margin + waiting_;
        const Scratch scratch{this->grads_[used * kLanes], t_.grad_positions - used};
        const uint32_t stacked = stacked_planes();
        const bool by_rows = stacked == 1 && has_few_rows(tile_rows);
        for (int64_t row = rows_.begin; row < (by_rows ? rows_.end : end); ++row) {
            const uint32_t cover =
                this->covering((row + t_.pad_height) % t_.stride_height, t_.kernel_height,
                               t_.stride_height, t_.cover_height);
            if (cover == 0) continue;
            const int64_t window = (row + t_.pad_height) / t_.stride_height - (cover - 1);
            const uint32_t at = static_cast<uint32_t>(row - rows_.begin) * t_.tile_pitch;
            if (by_rows) {
                const Placement planes{t_.tile_pitch, 1, static_cast<uint32_t>(planes_),
                                       tile_rows * t_.tile_pitch, plane_sums_};
                add_up(this->tile_lanes()[at * kLanes], sums_[sums_at(window)], cover,
                       t_.tile_pitch, planes, scratch);
                continue;
            }
            const Placement placement{
                t_.tile_pitch, 1,
                stacked * static_cast<uint32_t>((rows_.end - 1 - row) / t_.stride_height + 1),
                static_cast<uint32_t>(t_.stride_height) * t_.tile_pitch, t_.tile_pitch};
            for (uint32_t p = 0; p < planes_; p += stacked) {
                add_up(this->tile_lanes()[(p * tile_rows * t_.tile_pitch + at) * kLanes],
                       sums_[p * plane_sums_ * kLanes + sums_at(window)], cover, t_.tile_pitch,
                       placement, scratch);
            }
        }
    }

    // Whether one row of all planes at a time takes fewer instructions than one plane at a time.
    __aicore__ inline bool has_few_rows(uint32_t tile_rows) const {
        const uint32_t planes = static_cast<uint32_t>(planes_), cover = t_.cover_height;
        const auto stride = static_cast<uint32_t>(least(t_.stride_height, tile_rows));
        if (cover == 1) return tile_rows < planes * stride;
        const bool is_near = tile_rows * t_.tile_pitch * kFloatBlocks <= kMaxBlockStride &&
                             plane_sums_ * kFloatBlocks <= kMaxBlockStride;
        // With many windows sums of two are made of a plane at a time.
        const uint32_t alone = cover < 4 ? cover - 1 : cover / 2 + cover % 2;
        return is_near && tile_rows * (cover - 1) * ((planes - 1) / kRepeatBlocks + 1) <
                              planes * stride * alone;
    }

    // Moves the sums that later rows need to the begin.
    __aicore__ inline void keep_sums() {
        if (rows_.end >= run_.end) return;
        const int64_t first =
            (rows_.end + t_.pad_height) / t_.stride_height - (t_.cover_height - 1);
        const uint32_t shift = static_cast<uint32_t>(first - first_);
        this->move(sums_, 0, shift * t_.tile_pitch,
                   static_cast<uint32_t>(end_ - first) * t_.tile_pitch);
        first_ = first;
    }

    PoolDivisors<Base::kIsNarrow> divisors_;
    const uint32_t plane_sums_;  // positions of a plane in sums_
    typename Base::Buffer sums_buffer_;
    LocalTensor<float> sums_;  // rows [first_, end_) of windows; zero where no window exists
    bool is_ready_ = false;
    int64_t first_, end_;
    int64_t last_;      // behind the last row of windows that the run needs
    uint32_t waiting_;  // positions of grads() that are no whole row yet
    uint32_t pitch_;    // from row to row there
};

}  // namespace kernels
