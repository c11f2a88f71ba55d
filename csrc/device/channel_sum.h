// Tiling of kernels that sum over all axes but the channel's. Shared with the device: plain data,
// no namespace.
//
// Memory is [N][C][S]. It is cut into lanes, equal stretches that hold [rows][group][S'] elements:
// whole rows of C * S, whole channels, or a piece of one channel; or anything (CHANNEL_SUM_FLAT,
// where group is C, rows of them count as different, S' is S). Lane (b, o, i) begins at element
// b * block_stride + o * outer_stride + i * lane_stride; lanes of one b sum into the same channels.
// Numbered in that order they are the units that cores share evenly.
#pragma once

#include <stdint.h>

// What a lane holds.
#define CHANNEL_SUM_ROWS 0       // columns of one row, or `rows` whole ones, S = 1
#define CHANNEL_SUM_GROUPS 1     // `rows` whole rows
#define CHANNEL_SUM_SPREAD 2     // `group` whole channels, other lanes the channels that follow
#define CHANNEL_SUM_CHANNELS 3   // one long channel, other lanes the channels that follow
#define CHANNEL_SUM_PIECES 4     // a piece of one channel; lanes of a block belong to that channel
#define CHANNEL_SUM_FLAT 5       // an even stretch of memory, wherever channels begin in it
#define CHANNEL_SUM_EVEN_ROWS 6  // the same; a tile has whole rows, wherever loads end in it

// Channels of a tile of CHANNEL_SUM_CHANNELS, at most, unless it `turns`: the strides of an
// instruction that adds them.
#define CHANNEL_SUM_MAX_CHANNELS 31

// Tiles that are added to a sum before it is added to the block's.
#define CHANNEL_SUM_TILES 64

struct ChannelSumTiling {
    int64_t units;
    int64_t cut;     // cores begin at multiples of that many units
    int64_t blocks;  // extent of b
    int64_t outer;   // extent of o
    int64_t inner;   // extent of i; in the last block last_inner
    int64_t last_inner;
    int64_t block_stride;  // elements
    int64_t outer_stride;
    int64_t lane_stride;
    int64_t channels;
    int64_t partials;        // bytes from the workspace's begin to the partial sums
    int64_t partial_pitch;   // floats of one vector of partial sums
    uint32_t contributions;  // vectors of partial sums per sum; 0: nothing to sum
    uint32_t width;          // floats of a channel's partial sum, 1 or 8
    uint32_t layout;         // CHANNEL_SUM_...
    uint32_t length;         // elements of a lane; in the last block last_length
    uint32_t last_length;
    uint32_t tail;  // of the last lane of (b, o)
    uint32_t last_tail;
    uint32_t pitch;   // elements from lane to lane in the unified buffer: whole blocks, or of one
                      // long channel the length, whatever it is
    uint32_t slots;   // lanes of a tile; of even rows, of a load
    uint32_t period;  // elements of a tile, after which another one follows
    uint32_t margin;  // elements before a tile, with channels of its last ones: where it ends
                      // inside a block of a load, the next one goes on from that block's begin
    uint32_t tile;    // elements of a tile's buffer
    uint32_t work;    // elements of a work tile's buffer, as many as a tile's or fewer
    uint32_t load_slots;  // lanes of a load: one tile, or several without channels of their own
    uint32_t load;        // elements of a load's buffer
    uint32_t whole_load;  // a core's last load is made in parts where it has more elements
    uint32_t few_units;   // a core begins with its last block if it has fewer lanes of that
    uint32_t rows;
    uint32_t group;
    uint32_t spatial;         // S'
    uint32_t block_channels;  // channels of a block
    uint32_t vector_space;    // floats of a block's channel vector in the unified buffer
    uint32_t sum_space;       // floats of a block's sums there
    uint32_t spare_sums;      // as many more, to add to a block's, and zeros for cores without a
                              // part of it; 0 where there are none and it is summed up once
    uint32_t input_buffers;   // 2, or 3 where a load may be stored while another is worked on
    uint32_t joined;          // loads, and cores, begin with the first lane of (b, o)
    uint32_t turns;           // sums of CHANNEL_SUM_CHANNELS by transposing sixteen lanes whole
    uint64_t before[2];  // bits of sixteen channels by eight elements: what shares a block with the
                         // channel before; of elements 0 to 3, 4 to 7
};
