// Where the elements of a tile lie.
#pragma once

#include "common/copy.h"
#include "device/strided_copy.h"

namespace kernels {

// Whether not all elements lie at multiples of their size.
__aicore__ inline bool is_odd(GM_ADDR address, const int64_t* strides, uint32_t size) {
    bool odd = reinterpret_cast<uint64_t>(address) % size != 0;
    for (int32_t i = 0; i < 8; ++i) odd = odd || strides[i] % static_cast<int64_t>(size) != 0;
    return odd;
}

// A tile of the two innermost loops.
struct StridedTile {
    __aicore__ inline StridedTile(const StridedCopyTiling& tiling, int64_t item) : t(tiling) {
        const int64_t row_tiles = (t.extent[6] + t.tile_rows - 1) / t.tile_rows;
        const int64_t column_tiles = (t.extent[7] + t.tile_columns - 1) / t.tile_columns;
        column = item % column_tiles * t.tile_columns;
        item /= column_tiles;
        const int64_t row = item % row_tiles * t.tile_rows;
        item /= row_tiles;
        rows = static_cast<uint32_t>(least(t.extent[6] - row, t.tile_rows));
        columns = static_cast<uint32_t>(least(t.extent[7] - column, t.tile_columns));
        source_row = row * t.source_stride[6];
        target_row = row * t.target_stride[6];
        for (int32_t i = 5; i >= 0; --i) {
            const int64_t index = item % t.extent[i];
            item /= t.extent[i];
            source_row += index * t.source_stride[i];
            target_row += index * t.target_stride[i];
        }
    }

    // Bytes from the loops' first element to that column of the first row.
    __aicore__ inline int64_t source(int64_t at) const {
        return source_row + at * t.source_stride[7];
    }
    __aicore__ inline int64_t target(int64_t at) const {
        return target_row + at * t.target_stride[7];
    }

    const StridedCopyTiling& t;
    int64_t column;  // the first
    uint32_t rows, columns;
    int64_t source_row, target_row;  // bytes to column 0
};

}  // namespace kernels
