// Tiling of AvgPool2dBackward's device kernel. Shared with the device: plain data, no namespace.
//
// A lane is `lane_planes` neighbouring planes at most, a group sixteen lanes, of which `lanes` are
// used: fewer where these share the planes more evenly. What cores share are tiles: unit_height
// rows by tile_width columns of grad_input of a group's lanes of unit_planes planes, numbered along
// height first, then along width, then by planes. `unit_tiles` of them are one unit (the last one
// may have fewer), and core b of B works on units [b * units / B, (b + 1) * units / B): in runs of
// neighbouring rows, or of up to lane_planes planes. A run is summed up tile_height rows at a time
// at most. kPoolFill has no lanes: its units are 512 bytes of grad_input, whatever planes they
// hold. A group of kPoolColumns is one plane, and so is one of dense kPoolRows with lane_planes
// above 1: of a core's planes sixteen lanes as long as each other are made, each its planes one
// below the other as if they were one.
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
    int64_t unit_height;
    int64_t phase_height, phase_width;  // the first unit or tile is so much shorter
    int64_t tiles_height, tiles_width;
    int64_t unit_tiles, units;
    int64_t lane_planes, unit_planes;    // kPoolFill: unit_planes are filled together
    int64_t lanes;                       // of a group; not of kPoolFill
    int64_t load_rows;                   // of grad_output that one load takes: kPoolParts
    uint32_t cover_height, cover_width;  // windows that cover one element along an axis, at most
    uint32_t sum_rows;                   // rows of windows of a plane whose sums are held
    uint32_t divisor_columns;            // windows of a row
    uint32_t divisor_planes;             // whose divisors are held, if these vary; 0: of a row
    uint32_t load_elements;              // of a lane in a load, a multiple of 16
    uint32_t first_load;  // kPoolRows: the same of a run's first load; kPoolFill: of what it fills
    uint32_t unit_step;   // kPoolFill: planes of a unit so far apart are copied together
    uint32_t tile_elements;  // of a lane in a store, a multiple of 16; kPoolFill: with whole planes
    uint32_t margin;         // positions before the gradients, and if not dense behind, for sums
    uint32_t grad_positions;  // floats of sixteen lanes: of gradients
    uint32_t tile_positions;  // and of a tile, with what waits to be stored; kPoolFill: its planes
    uint32_t tile_begin;      // of those, where 16-bit results are summed up
    uint32_t scratch;         // the first that loads may overwrite
    // kPoolPlanes: the position behind sums over columns of planes one below the other, which then
    // get rows between them; 0: they need none.
    uint32_t apart_end;
    uint32_t tile_pitch;     // columns of a row of grad_input there
    uint32_t store_buffers;  // 2, or 1 where that makes tiles larger
    uint32_t count_include_pad;
    uint32_t mode;       // AvgPool2dBackwardMode
    float factor;        // what quotients may be multiplied out with; 0: they are divided
    float divisor;       // the constant one, or 0 where it varies
    uint32_t traversal;  // AvgPool2dBackwardTraversal
    uint32_t dense;      // kPoolRows: strides 1, as many windows of a row as columns
    // kPoolColumns: lane k has the windows from k * lane_windows - windows_before on, lane_pitch of
    // them, from rows of row_elements in a load; its columns are those from the k * lane_windows-th
    // window's on.
    uint32_t lane_windows, windows_before, lane_pitch, row_elements;
};

// Of sixteen lanes, that a repeat of an instruction on floats takes.
constexpr uint32_t kPoolRepeatPositions = 4;
// Tiles of kPoolFill whose windows may be loaded before they are filled.
constexpr uint32_t kPoolFillLoads = 4;

// As AvgPool2dBackward::Mode.
enum AvgPool2dBackwardMode : uint32_t { kPoolFloat32, kPoolFloat16, kPoolHf32 };

enum AvgPool2dBackwardTraversal : uint32_t {
    kPoolRows,     // stretches of planes, whatever rows they hold
    kPoolPlanes,   // whole planes
    kPoolParts,    // parts of rows
    kPoolFill,     // planes that one window covers
    kPoolColumns,  // whole rows of single planes: lanes are stretches of their columns
    kPoolDirect,   // no buffer holds the sums of a row of windows: window by window
};
