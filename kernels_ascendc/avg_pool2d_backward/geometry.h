// Which tiles a core has, which windows they need, and where both lie in global memory.
#pragma once

#include "avg_pool2d_backward/lane_copy.h"
#include "ops/avg_pool2d_backward/tiling.h"

namespace kernels {

// One axis of a tile: elements [begin, end) of grad_input, and windows [first, last] that they may
// have; those below 0 and beyond the last one do not exist.
struct TileAxis {
    int64_t begin, end;
    int64_t first, last;
};

// A rectangle of grad_output.
struct GradPart {
    int64_t first_row, end_row, first_column, end_column;
};

template <typename T>
class PoolGeometry {
  protected:
    __aicore__ inline explicit PoolGeometry(const AvgPool2dBackwardTiling& tiling) : t_(tiling) {
        const int64_t core = GetBlockIdx(), cores = GetBlockNum();
        first_tile_ = core * t_.units / cores * t_.unit_tiles;
        end_tile_ = (core + 1) * t_.units / cores * t_.unit_tiles;
        tile_ = first_tile_ - 1;
    }

    // Goes to the first or next tile of this core; false when there is none.
    __aicore__ inline bool next_tile() {
        if (tile_ + 1 >= end_tile_) return false;
        set_tile(++tile_);
        return true;
    }

    // --- grad_output.

    // Position of an element of the part among its lanes; planes of a lane follow each other.
    __aicore__ inline uint32_t position(const GradPart& part, int64_t plane, int64_t row,
                                        int64_t column) {
        const int64_t rows = t_.lane_planes > 1 ? t_.grad_height : part.end_row - part.first_row;
        const int64_t first = has_whole_rows() ? 0 : part.first_column;
        return static_cast<uint32_t>((plane * rows + row - part.first_row) * pitch(part) + column -
                                     first);
    }
    __aicore__ inline LanesShape shape_of(const GradPart& part) {
        LanesShape shape;
        const uint64_t plane = static_cast<uint64_t>(t_.grad_height * t_.grad_width);
        set_lanes(shape, plane);
        shape.offset = first_plane() * plane;
        shape.lane_elements = t_.grad_elements;
        shape.row_stride = static_cast<uint64_t>(t_.grad_width);
        shape.row_pitch = pitch(part);
        if (t_.lane_planes > 1) {
            shape.rows = 1;
            shape.columns = static_cast<uint32_t>(shape.lane_stride);
            return shape;
        }
        shape.offset += static_cast<uint64_t>(part.first_row * t_.grad_width);
        const uint32_t rows = static_cast<uint32_t>(part.end_row - part.first_row);
        if (has_whole_rows()) {
            shape.rows = 1;
            shape.columns = rows * static_cast<uint32_t>(t_.grad_width);
        } else {
            shape.offset += static_cast<uint64_t>(part.first_column);
            shape.rows = rows;
            shape.columns = static_cast<uint32_t>(part.end_column - part.first_column);
        }
        return shape;
    }

    // --- grad_input.

    __aicore__ inline uint32_t tile_position(int64_t plane, int64_t row, int64_t column) {
        return static_cast<uint32_t>((plane * (rows_.end - rows_.begin) + row) * t_.tile_pitch +
                                     column);
    }
    __aicore__ inline uint64_t first_plane() {
        return static_cast<uint64_t>(group_ * t_.lane_planes * kLanes);
    }
    __aicore__ inline void set_lanes(LanesShape& shape, uint64_t plane_elements) {
        const int64_t left = t_.planes - static_cast<int64_t>(first_plane());
        shape.lanes = static_cast<uint32_t>(least(left / t_.lane_planes, kLanes));
        const int64_t planes = left - shape.lanes * t_.lane_planes;
        shape.rest = shape.lanes < kLanes ? static_cast<uint32_t>(planes * plane_elements) : 0;
        shape.lane_stride = t_.lane_planes * plane_elements;
    }

    const AvgPool2dBackwardTiling& t_;
    bool is_fresh_ = true;  // no tile of this core is above
    bool is_last_ = true;   // nor below
    TileAxis rows_, columns_;

  private:
    __aicore__ inline void set_tile(int64_t tile) {
        const int64_t tiles = t_.tiles_height * t_.tiles_width;
        group_ = tile / tiles;
        const int64_t row = tile % tiles % t_.tiles_height;
        const int64_t column = tile % tiles / t_.tiles_height;
        is_fresh_ = row == 0 || tile == first_tile_;
        is_last_ = row == t_.tiles_height - 1 || tile + 1 == end_tile_;
        rows_ = axis(row, t_.tile_height, t_.phase_height, t_.height, t_.stride_height,
                     t_.pad_height, t_.cover_height);
        columns_ = axis(column, t_.tile_width, t_.phase_width, t_.width, t_.stride_width,
                        t_.pad_width, t_.cover_width);
    }
    __aicore__ inline TileAxis axis(int64_t tile, int64_t size, int64_t phase, int64_t extent,
                                    int64_t stride, int64_t pad, int64_t cover) {
        TileAxis a;
        a.begin = greatest(0, tile * size - phase);
        a.end = least(extent, (tile + 1) * size - phase);
        a.first = (a.begin + pad) / stride - (cover - 1);
        a.last = (a.end - 1 + pad) / stride;
        return a;
    }

    // Whether parts of grad_output are loaded with all their columns.
    __aicore__ inline bool has_whole_rows() {
        return t_.tiles_width == 1 && t_.traversal != kPoolDirect;
    }
    // Elements between rows of a part that was loaded.
    __aicore__ inline uint32_t pitch(const GradPart& part) {
        return has_whole_rows()
                   ? static_cast<uint32_t>(t_.grad_width)
                   : round_up(static_cast<uint32_t>(part.end_column - part.first_column),
                              kBlock<T>);
    }

    int64_t first_tile_, end_tile_, tile_;
    int64_t group_ = 0;
};

}  // namespace kernels
