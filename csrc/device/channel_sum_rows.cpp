#include "device/channel_sum_rows.h"

#include <algorithm>

namespace ascend_grad::device {
namespace {

constexpr int64_t kLeastPieces = 4;      // of a load
constexpr int64_t kMoreLoads = 6;        // of a core, where it is behind long ones
constexpr int64_t kLongLoad = 16 << 10;  // bytes, beside which the start of a copy is little
constexpr int64_t kFewCores = 31;        // that load what global memory delivers,
constexpr int64_t kLeastPerFew = 60;     // where they move that much for each byte exchanged;
constexpr int64_t kManyCores = 40;       // that start loads, and work on the last ones, sooner,
constexpr int64_t kLeastPerMany = 25;    // unless they move less than that;
constexpr int64_t kLeastPerAll = 40;     // the same of all cores

// Floats of sums of joined rows, at most, and those of scratch (kernels_ascendc/common/
// joined_rows.h).
int64_t joined_floats(int64_t channels) {
    return round_up(channels, kLanes) + kStretch * kLanes;
}
int64_t scratch_floats(int64_t channels) {
    return 2 * joined_floats(channels) + 5 * kSlack;
}

// Whether joined rows have that where the kernels look for it besides a tile: work tiles and, where
// there are none, the inputs of a load.
bool has_scratch(const ChannelSumTiling& t, const ChannelSumKernel& kernel) {
    if (t.rows == 1) return true;
    const int64_t scratch = scratch_floats(t.group), work = kernel.work * int64_t{t.work};
    const int64_t inputs = 2 * int64_t{t.load} * kernel.element_bytes / 4;
    if (kernel.writes) return joined_floats(t.group) <= t.work;
    return scratch <= (kernel.work > 0 ? work : inputs);
}

// Bytes moved for each of the sums that so many cores exchange.
int64_t per_exchanged(int64_t bytes, int64_t channels, int64_t cores,
                      const ChannelSumKernel& kernel) {
    return bytes / (cores * channels * kernel.sums * 2 * int64_t{sizeof(float)});
}

// The longest loads that fit. Where cores are few and there is much to do with each element, the
// vector unit is behind long ones.
void set_loads(const ChannelShape& shape, const ChannelSumKernel& kernel, const Product& product,
               ChannelSumTiling& t) {
    const int64_t each =
        per_exchanged(moved_bytes(shape, kernel), shape.channels, product.cores, kernel);
    const bool keeps_up = kernel.writes || kernel.work == 0 || each >= kLeastPerAll;
    const int64_t longest = keeps_up ? INT32_MAX : 2 * kTile;
    const int64_t loads = product.cores * (keeps_up ? kLoads : kMoreLoads);
    const int64_t most = std::min(t.units / loads, longest / t.pitch);
    for (int64_t pieces = 1; pieces <= std::max(most, kLeastPieces); ++pieces) {
        ChannelSumTiling longer = t;
        longer.slots = longer.load_slots = to_u32(pieces);
        longer.load = to_u32(round_up(pieces * t.pitch + kSlack, kSlack));
        if (buffer_bytes(longer, kernel, product) > product.buffer_bytes) break;
        t = longer;
    }
}

ChannelSumTiling even_rows(const ChannelShape& shape, const ChannelSumKernel& kernel,
                           const Product& product, ChannelSumTiling t) {
    const int64_t rows = factor_to(shape.channels, kFloatsOfBlock), row = rows * shape.channels;
    const int64_t piece = kEvenBytes / kernel.element_bytes;
    t.layout = CHANNEL_SUM_EVEN_ROWS;
    t.blocks = t.outer = 1;
    t.lane_stride = piece;
    t.length = t.last_length = t.pitch = to_u32(piece);
    t.units = t.inner = t.last_inner = divide_up(shape.numel(), piece);
    t.tail = t.last_tail = to_u32(shape.numel() - (t.units - 1) * piece);
    t.rows = to_u32(rows);
    t.group = t.block_channels = to_u32(shape.channels);
    t.vector_space = t.sum_space =
        to_u32(rows > 1 ? joined_floats(shape.channels) : round_up(row, kLanes));
    const int64_t tiles = std::max<int64_t>(kTile / row, 1);
    t.period = to_u32(whole_multiple(tiles, row * kernel.element_bytes) * row);
    t.margin = t.period * kernel.element_bytes % kBlockBytes == 0 ? 0 : kFloatsOfBlock;
    const int64_t behind = rows > 1 ? joined_floats(0) + kSlack : kSlack;
    const int64_t scratch = rows > 1 ? scratch_floats(shape.channels) : 1024;
    t.tile = to_u32(round_up(std::max(t.period + t.margin + behind, scratch), kSlack));
    t.work = t.tile;
    if (kernel.work > 0 && t.period > kTile) {  // what joins rows in them is the least
        const int64_t joined = kernel.writes ? joined_floats(shape.channels) : scratch / 2;
        t.work = to_u32(round_up(std::max(kTile / 2, rows > 1 ? joined : 0), kSlack));
    }
    const int64_t least =
        std::min<int64_t>(kFewCores, product.cores);  // those of little data apart
    t.spare_sums = shape.numel() <= (CHANNEL_SUM_TILES - 1) * least * t.period ? 0 : kernel.sums;
    return t;
}

}  // namespace

bool tile_even_rows(const ChannelShape& shape, const ChannelSumKernel& kernel,
                    const Product& product, const ChannelLimits& limits, ChannelSumTiling& t) {
    const bool is_even = shape.channels * kernel.element_bytes % kEvenBytes == 0;
    if (t.layout != CHANNEL_SUM_ROWS || !limits.copies_bytes || is_even) return false;
    if (shape.channels > product.buffer_bytes) return false;  // sizes below are of 32 bits
    ChannelSumTiling even = even_rows(shape, kernel, product, t);
    even.load_slots = 0;
    set_loads(shape, kernel, product, even);
    if (even.load_slots < kLeastPieces || !has_scratch(even, kernel)) return false;
    const bool gapless = t.blocks == 1 && t.pitch == t.lane_stride;
    const int64_t load = even.load_slots * kEvenBytes;
    const int64_t cores = kernel.writes ? limits.cores : std::min(kFewCores, limits.cores);
    const double least = row_cost(shape, t.block_channels, limits);
    if (!gapless && least <= even_row_cost(shape, load, cores, limits)) return false;
    t = even;
    return true;
}

int64_t row_cores(const ChannelSumTiling& t, const ChannelSumKernel& kernel,
                  const ChannelLimits& limits, int64_t bytes) {
    const auto each = [&](int64_t cores) {
        return per_exchanged(bytes, t.channels, cores, kernel);
    };
    const bool is_long = kernel.work == 0 && t.load * kernel.element_bytes >= kLongLoad;
    if (kernel.writes || (!is_long && each(limits.cores) >= kLeastPerAll)) return limits.cores;
    const bool few =
        (is_long && each(kFewCores) >= kLeastPerFew) || each(kManyCores) < kLeastPerMany;
    return std::min(few ? kFewCores : kManyCores, limits.cores);
}

}  // namespace ascend_grad::device
