// Tiling of the SoftmaxBackward kernel. Shared with the device: plain data, no namespace.
#pragma once

#include <stdint.h>

// The tensors are dense arrays [outer][length][inner], sums run over `length`; a plane is one
// [length][inner]. Traversals:
enum SoftmaxBackwardTraversal : uint32_t {
    // Sixteen stretches of whole planes at a time, interleaved (common/lanes.h).
    kSoftmaxLanes,
    // Several whole planes at a time, as they lie or, with inner == 1 (rows), each from a block on.
    kSoftmaxRows,
    // Strips of columns, chunk by chunk of rows; the rows of a chunk begin at blocks.
    kSoftmaxColumns,
    // Whole planes, chunk by chunk of consecutive elements.
    kSoftmaxPacked,
};

constexpr uint32_t kSoftmaxMaxQueued = 8;         // input buffers
constexpr uint32_t kSoftmaxSlotFloats = 128;      // the sums of a level or block begin at multiples
constexpr uint32_t kSoftmaxPartialFloats = 1024;  // of other blocks' sums, received at once

struct SoftmaxBackwardTiling {
    int64_t length;
    int64_t inner;
    // What is shared out: planes (lanes, rows) or strips, in groups that cores do not split. Block
    // b of B (or team, of `parts` blocks) takes the groups from groups * b / B on.
    int64_t items;
    int64_t items_per_group;
    int64_t groups;
    int64_t strips_per_plane;
    uint32_t traversal;
    uint32_t parts;          // blocks that share a strip, each with a part of its rows or elements
    uint32_t input_buffers;  // that hold a tile or chunk each, of both inputs
    uint32_t buffer;         // elements of a tile or chunk, of one tensor, with padding
    // Per tile or chunk: planes of a lane, rows, multiples of `unit` rows, of `unit` elements.
    uint32_t tile;
    uint32_t width;  // columns of a strip
    // Elements from row to row of a chunk (columns), from lane to lane, from row to row (rows), or
    // after how many the column of an element is the same (packed).
    uint32_t pitch;
    // Chunks begin at multiples of so many rows or elements in memory, copies of rows as they lie
    // begin and end there.
    uint32_t unit;
    uint32_t chunks;  // strips: of a block's part, at most
    uint32_t first;   // rows: of a block's first tile
    // Strips: partial sums that each block of a team adds for all of it, which takes a barrier
    // more; 0: each adds all of them.
    uint32_t slice;
    // Columns: chunks of the next strip of a plane begin so many rows before those of this one.
    uint32_t shift;
    // Rows, of planes: elements after which the column and the place in a block of floats repeat.
    uint32_t period;
    // Columns: 1 where each row is copied by itself, from a multiple of 512 bytes on, and what lies
    // before that apart.
    uint32_t rows_apart;
};
