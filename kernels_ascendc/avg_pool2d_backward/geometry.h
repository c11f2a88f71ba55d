// Which elements a core has, run by run, which windows they need, and where both lie in global
// memory.
#pragma once

#include "avg_pool2d_backward/lane_copy.h"
#include "ops/avg_pool2d_backward/tiling.h"

namespace kernels {

struct PoolRange {
    int64_t begin = 0, end = 0;
};

template <typename T>
class PoolGeometry {
  protected:
    __aicore__ inline explicit PoolGeometry(const AvgPool2dBackwardTiling& tiling) : t_(tiling) {
        const int64_t core = GetBlockIdx(), cores = GetBlockNum();
        tile_ = core * t_.units / cores * t_.unit_tiles;
        const int64_t group = group_planes(), tiles = t_.tiles_height * t_.tiles_width;
        end_tile_ = least((core + 1) * t_.units / cores * t_.unit_tiles,
                          (t_.planes + group - 1) / group * tiles);
    }

    // Goes to the first or next run of this core: neighbouring rows, or whole planes; false when
    // there is none.
    __aicore__ inline bool next_run() {
        tile_ += run_tiles_;
        const int64_t left = end_tile_ - tile_;
        if (left <= 0) return false;
        const int64_t tiles = t_.tiles_height * t_.tiles_width;
        const int64_t row = tile_ % t_.tiles_height;
        if (is_tall()) {
            run_tiles_ = least(left, t_.lane_planes * kLanes);
            planes_ = (run_tiles_ - 1) / kLanes + 1;
        } else if (tiles == 1) {
            // Runs end at multiples of their length, where copies begin better; the first is short,
            // as nothing overlaps with its load.
            const int64_t whole = t_.lane_planes / t_.unit_planes;
            const int64_t most = run_tiles_ == 0 ? (whole + 1) / 2 : whole;
            run_tiles_ = least(left, most - tile_ % most);
            planes_ = run_tiles_ * t_.unit_planes;
        } else {
            run_tiles_ = least(left, t_.tiles_height - row);
        }
        first_plane_ = tile_ / tiles * group_planes();
        run_planes_ = is_tall() ? run_tiles_ : t_.planes - first_plane_;
        run_ = {begin_of(row, t_.unit_height, t_.phase_height),
                least(begin_of(row + run_tiles_, t_.unit_height, t_.phase_height), t_.height)};
        if (tiles == 1) run_.end = is_tall() ? planes_ * t_.height : t_.height;
        rows_.end = run_.begin;
        const int64_t column = tile_ % tiles / t_.tiles_height;
        columns_ = {begin_of(column, t_.tile_width, t_.phase_width),
                    least(begin_of(column + 1, t_.tile_width, t_.phase_width), t_.width)};
        windows_ = {
            greatest(first_window(columns_.begin, t_.kernel_width, t_.stride_width, t_.pad_width),
                     0),
            least((columns_.end - 1 + t_.pad_width) / t_.stride_width + 1, t_.windows_width)};
        return true;
    }
    // Goes on to the next rows of the run, a tile of them at most, of those before `ready`; whole
    // planes of tall lanes.
    __aicore__ inline bool next_rows(int64_t ready) {
        const int64_t step = is_tall() ? t_.height : 1;
        const int64_t left = (ready - rows_.end) / step;
        if (left <= 0) return false;
        const int64_t most = t_.tile_height / step;
        rows_.begin = rows_.end;
        rows_.end += ((left - 1) / ((left - 1) / most + 1) + 1) * step;
        return true;
    }
    // Whether a lane's planes lie one below the other, as one.
    __aicore__ inline bool is_tall() const {
        return t_.traversal == kPoolRows && t_.lane_planes > 1;
    }

    // Rows of windows that the run may have; those below 0 and from windows_height on do not exist.
    __aicore__ inline PoolRange window_rows() {
        return {(run_.begin + t_.pad_height) / t_.stride_height - (t_.cover_height - 1),
                (run_.end - 1 + t_.pad_height) / t_.stride_height + 1};
    }
    // The first window that may reach element x.
    __aicore__ inline int64_t first_window(int64_t x, int64_t kernel, int64_t stride, int64_t pad) {
        const int64_t beyond = x + pad - kernel;
        return beyond < 0 ? 0 : beyond / stride + 1;
    }
    // Windows along an axis that cover elements at distance r from the begin of the last of them.
    __aicore__ inline uint32_t covering(int64_t r, int64_t kernel, int64_t stride, uint32_t limit) {
        return r >= kernel ? 0 : static_cast<uint32_t>(least((kernel - 1 - r) / stride + 1, limit));
    }

    // `count` elements of each lane of grad_output, from element `first` of its first plane on.
    __aicore__ inline LanesShape grad_stretch(int64_t first, int64_t count) {
        const uint64_t plane = static_cast<uint64_t>(t_.grad_height * t_.grad_width);
        LanesShape shape;
        set_lanes(shape, plane, first, static_cast<uint32_t>(count));
        shape.row_pitch = shape.columns;
        shape.lane_elements = round_up(shape.columns, kLanes);
        return shape;
    }
    // Rows and columns of grad_output's planes.
    __aicore__ inline LanesShape grad_part(const PoolRange& rows, const PoolRange& columns) {
        LanesShape shape = grad_stretch(rows.begin * t_.grad_width + columns.begin, 1);
        shape.row_stride = static_cast<uint64_t>(t_.grad_width);
        shape.rows = static_cast<uint32_t>(rows.end - rows.begin);
        shape.columns = static_cast<uint32_t>(columns.end - columns.begin);
        shape.row_pitch = round_up(shape.columns, kBlock<T>);
        shape.lane_elements = round_up(shape.rows * shape.row_pitch, kLanes);
        return shape;
    }

    // Whole rows of one plane, which lanes are made of in the buffer.
    __aicore__ inline LanesShape grad_rows(int64_t begin, int64_t end) {
        LanesShape shape;
        shape.offset = static_cast<uint64_t>(first_plane_ * t_.grad_height * t_.grad_width +
                                             begin * t_.grad_width);
        shape.row_stride = shape.lane_stride = static_cast<uint64_t>(t_.grad_width);
        shape.rows = static_cast<uint32_t>(end - begin);
        shape.columns = static_cast<uint32_t>(t_.windows_width);
        shape.row_pitch = t_.row_elements;
        shape.lane_elements = shape.rows * shape.row_pitch;
        shape.lanes = 1;
        shape.rest = 0;
        return shape;
    }

    // Elements [first, first + count) of each lane.
    __aicore__ inline void set_lanes(LanesShape& shape, uint64_t plane_elements, int64_t first,
                                     uint32_t count) {
        shape.offset = first_plane_ * plane_elements + first;
        shape.lane_stride = planes_ * plane_elements;
        shape.rows = 1;
        shape.columns = count;
        shape.lanes = static_cast<uint32_t>(least(run_planes_ / planes_, t_.lanes));
        shape.rest = 0;
        if (shape.lanes == t_.lanes) return;
        const int64_t planes = run_planes_ - shape.lanes * planes_;
        const int64_t left = greatest(planes * static_cast<int64_t>(plane_elements) - first, 0);
        if (left < count) {
            shape.rest = static_cast<uint32_t>(left);
        } else {
            ++shape.lanes;
        }
    }

    const AvgPool2dBackwardTiling& t_;
    int64_t planes_ = 1;        // of a lane
    int64_t first_plane_ = 0;   // of lane 0
    int64_t run_planes_ = 0;    // from there on
    PoolRange run_;             // rows of the run
    PoolRange rows_, columns_;  // of the tile
    PoolRange windows_;         // columns of windows that exist and may reach the tile

  private:
    __aicore__ inline int64_t group_planes() const {
        return t_.unit_planes * (t_.traversal == kPoolColumns || is_tall() ? 1 : t_.lanes);
    }
    __aicore__ inline int64_t begin_of(int64_t tile, int64_t size, int64_t phase) {
        return greatest(0, tile * size - phase);
    }

    int64_t tile_, end_tile_, run_tiles_ = 0;
};

}  // namespace kernels
