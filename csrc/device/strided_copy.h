// Tiling of the kernel that copies between strided memory and converts on the way. Shared with the
// device: plain data, no namespace.
#pragma once

#include <stdint.h>

// How elements of the innermost loop come into the unified buffer and leave it.
#define STRIDED_COPY_ROWS 0        // neighbours: as they lie
#define STRIDED_COPY_TRANSPOSED 1  // the loop before is the one whose elements are neighbours
#define STRIDED_COPY_RUN 2         // a few bytes apart: with all that lies between
#define STRIDED_COPY_SINGLE 3      // one by one, each in a block of its own
// Products without DataCopyPad have the first two, for rows of at least sixteen elements that are
// neighbours in the target; with the last their items are elements.

// Element (i0, ..., i7) of the target = that of the source, converted. Loops are outermost first;
// unused ones have extent 1. Strides are in bytes; a target's are never negative.
struct StridedCopyTiling {
    int64_t extent[8];
    int64_t source_stride[8];
    int64_t target_stride[8];
    int64_t source_begin;  // bytes from the pointer to element (0, ..., 0)
    int64_t target_begin;
    // Tiles of the two innermost loops, or elements in order.
    int64_t items;
    int64_t items_per_block;
    uint32_t tile_rows;
    uint32_t tile_columns;
    uint32_t read;
    uint32_t write;            // rows or single
    uint32_t target_is_dense;  // elements in order are neighbours in the target
    uint32_t reserved;
};
