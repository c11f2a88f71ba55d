// Tiling of AvgPool2dBackward's device kernel. Shared with the device: plain data, no namespace.
//
// A lane is `lane_planes` neighbouring planes, a group sixteen lanes. A tile is tile_height rows by
// tile_width columns of grad_input of one group; tiles are numbered along height first, then along
// width, then by group. `unit_tiles` of them are one unit, and core b of B works on units
// [b * units / B, (b + 1) * units / B).
#pragma once

#include <stdint.h>

struct AvgPool2dBackwardTiling {
    int64_t planes;                         // n * c
    int64_t height, width;                  // of grad_input
    int64_t grad_height, grad_width;        // of grad_output
    int64_t windows_height, windows_width;  // that reach the input
    int64_t kernel_height, kernel_width;
    int64_t stride_height, stride_width;
    int64_t pad_height, pad_width;
    int64_t tile_height, tile_width;
    int64_t phase_height, phase_width;  // the first tile is so much shorter
    int64_t tiles_height, tiles_width;
    int64_t unit_tiles, units;
    int64_t lane_planes;
    // Windows that cover one element along an axis, at most; and the table of quotients that a tile
    // needs: windows that its elements may have, along each axis.
    uint32_t cover_height, cover_width;
    uint32_t table_rows, table_columns;
    uint32_t load_rows;                     // of grad_output that one load takes
    uint32_t grad_elements, tile_elements;  // of a lane in the buffers, multiples of 16
    uint32_t tile_pitch;                    // columns of a row of grad_input there
    uint32_t held_elements;                 // of a lane before those of grad_output in its buffer
    uint32_t store_buffers;                 // 2, or 1 where that makes tiles larger
    uint32_t count_include_pad;
    uint32_t mode;       // AvgPool2dBackward::Mode
    float factor;        // what quotients may be multiplied out with; 0: they are divided
    float divisor;       // the constant one, or 0 where it varies
    uint32_t traversal;  // AvgPool2dBackwardTraversal
    uint32_t reserved;
};

enum AvgPool2dBackwardTraversal : uint32_t {
    kPoolTable,   // sums over a table of quotients
    kPoolFill,    // one window covers whole planes
    kPoolDirect,  // the table does not fit: window by window
};
