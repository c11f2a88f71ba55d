#include "device/channel_sum_rows.h"

#include <algorithm>

#include "device/channel_sum_cores.h"

namespace ascend_grad::device {
namespace {

constexpr int64_t kLeastPieces = 4;  // of a load
// Of rows of channels with several positions (in the emulator's model): elements of a tile, and
// pieces of a load if there are as many, else what waits for both takes longer than lanes do; and
// bytes that the call moves for each channel, whose value and sums take instructions of their own
// in every core.
constexpr int64_t kMostPeriod = 2 * kTile, kLongPieces = 12, kLeastChannelBytes = 320000;

// Floats of sums of joined rows, at most, and those of scratch (kernels_ascendc/common/
// joined_rows.h).
int64_t joined_floats(int64_t columns) {
    return round_up(columns, kLanes) + kStretch * kLanes;
}
int64_t scratch_floats(int64_t columns) {
    return 2 * joined_floats(columns) + 5 * kSlack;
}
// Floats with which sums of columns become those of sixteen channels (ChannelTiles).
int64_t turned_floats(int64_t inner) {
    return inner > 1 ? kLanes * (inner + kLanes) : 0;
}

// Whether they have that where the kernels look for it besides a tile: work tiles and, where there
// are none, the inputs of a load.
bool has_scratch(const ChannelSumTiling& t, const ChannelSumKernel& kernel) {
    const int64_t columns = int64_t{t.group} * t.spatial, joined = t.rows > 1 ? columns : 0;
    const int64_t inputs = 2 * int64_t{t.load} * kernel.element_bytes / 4;
    if (kernel.writes) return joined == 0 || joined_floats(joined) <= t.work;
    const int64_t scratch =
        std::max(joined > 0 ? scratch_floats(joined) : 0, turned_floats(t.spatial));
    return scratch <= (kernel.work > 0 ? kernel.work * int64_t{t.work} : inputs);
}

// The longest loads that fit; false where these are too short. With few cores and work on each
// element the vector unit is behind long ones.
bool set_loads(const ChannelSumKernel& kernel, const Product& product, int64_t cores,
               ChannelSumTiling& t) {
    const bool is_behind = cores < product.cores && kernel.work > 0 && !kernel.writes;
    const int64_t longest = is_behind ? 2 * kTile : INT32_MAX;
    const int64_t most = std::min(t.units / (product.cores * kLoads), longest / t.pitch);
    const int64_t least =
        t.spatial > 1 ? std::clamp(most, kLeastPieces, kLongPieces) : kLeastPieces;
    t.load_slots = 0;
    for (int64_t pieces = 1; pieces <= std::max(most, kLeastPieces); ++pieces) {
        ChannelSumTiling longer = t;
        longer.slots = longer.load_slots = to_u32(pieces);
        longer.load = to_u32(round_up(pieces * t.pitch + kSlack, kSlack));
        if (buffer_bytes(longer, kernel, product) > product.buffer_bytes) break;
        t = longer;
    }
    return t.load_slots >= least;
}

ChannelSumTiling even_rows(const ChannelShape& shape, const ChannelSumKernel& kernel,
                           const Product& product, ChannelSumTiling t) {
    const int64_t columns = shape.channels * shape.inner;
    const int64_t rows = factor_to(columns, kFloatsOfBlock), row = rows * columns;
    const int64_t piece = kEvenBytes / kernel.element_bytes;
    t.layout = CHANNEL_SUM_EVEN_ROWS;
    t.input_buffers = input_buffers(t, kernel, product);
    t.turns = t.joined = 0;
    t.blocks = t.outer = 1;
    t.lane_stride = piece;
    t.length = t.last_length = t.pitch = to_u32(piece);
    t.units = t.inner = t.last_inner = divide_up(shape.numel(), piece);
    t.tail = t.last_tail = to_u32(shape.numel() - (t.units - 1) * piece);
    t.rows = to_u32(rows);
    t.group = t.block_channels = to_u32(shape.channels);
    t.spatial = to_u32(shape.inner);
    if (shape.inner > 1) set_shared_blocks(shape.inner, t);
    t.vector_space = t.sum_space = to_u32(shape.inner > 1 ? round_up(shape.channels, kLanes)
                                          : rows > 1      ? joined_floats(columns)
                                                          : round_up(row, kLanes));
    const int64_t tiles = std::max<int64_t>(kTile / row, 1);
    t.period = to_u32(whole_multiple(tiles, row * kernel.element_bytes) * row);
    t.margin = t.period * kernel.element_bytes % kBlockBytes == 0 ? 0 : kFloatsOfBlock;
    const int64_t behind = rows > 1 ? joined_floats(0) + kSlack : kSlack;
    const int64_t scratch = rows > 1 ? scratch_floats(columns) : 1024;
    const int64_t spread = shape.inner > 1 ? round_up(shape.channels, kLanes) * kLanes : 0;
    const int64_t least_tile = std::max({scratch, spread, turned_floats(shape.inner)}) + t.margin;
    t.tile = to_u32(round_up(std::max(t.period + t.margin + behind, least_tile), kSlack));
    t.work = t.tile;
    if (kernel.work > 0 && t.period > kTile) {  // what joins rows in them is the least
        const int64_t joined = kernel.writes ? joined_floats(columns) : scratch / 2;
        const int64_t turned = kernel.writes ? 0 : turned_floats(shape.inner) / 2;
        t.work = to_u32(round_up(std::max({kTile / 2, rows > 1 ? joined : 0, turned}), kSlack));
    }
    const int64_t least = std::min(kLoadingCores, product.cores);  // those of little data apart
    t.spare_sums = shape.numel() <= (CHANNEL_SUM_TILES - 1) * least * t.period ? 0 : kernel.sums;
    return t;
}

// Whether rows of channels with several positions may be walked so, and that pays; else `lanes`
// are.
bool has_even_positions(const ChannelShape& shape, const ChannelSumKernel& kernel,
                        const ChannelSumTiling& lanes) {
    const int64_t columns = shape.channels * shape.inner;
    const bool begin_evenly = lanes.lane_stride * kernel.element_bytes % kEvenBytes == 0;
    if (begin_evenly && lanes.pitch == lanes.lane_stride) return false;
    return shape.channels > 1 && shape.inner >= kFloatsOfBlock &&
           columns * factor_to(columns, kFloatsOfBlock) <= kMostPeriod &&
           shape.channels * kLeastChannelBytes <= moved_bytes(shape, kernel);
}

}  // namespace

bool tile_even_rows(const ChannelShape& shape, const ChannelSumKernel& kernel,
                    const Product& product, const ChannelLimits& limits, ChannelSumTiling& t) {
    const bool has_positions = shape.inner > 1;
    if ((t.layout != CHANNEL_SUM_ROWS && !has_positions) || !limits.copies_bytes) return false;
    // Sizes below are of 32 bits.
    if (shape.channels > product.buffer_bytes || shape.inner > product.buffer_bytes) return false;
    if (has_positions && !has_even_positions(shape, kernel, t)) return false;
    ChannelSumTiling even = even_rows(shape, kernel, product, t);
    const int64_t cores = share_out(shape, kernel, limits, even);
    if (!set_loads(kernel, product, cores, even) || !has_scratch(even, kernel)) return false;
    if (!has_positions && (t.blocks > 1 || t.pitch != t.lane_stride)) {
        const int64_t load = even.load_slots * kEvenBytes;
        const double least = row_cost(shape, t.block_channels, limits);
        if (least <= even_row_cost(shape, load, cores, limits)) return false;
    }
    t = even;
    return true;
}

}  // namespace ascend_grad::device
