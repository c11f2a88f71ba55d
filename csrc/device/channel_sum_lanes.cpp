#include "device/channel_sum_lanes.h"

#include <algorithm>

namespace ascend_grad::device {
namespace {

constexpr double kPieceBytes = kPieceCycles * kSharedRate;  // that take as long as another piece
constexpr double kOddCopies = 1 / kUnevenRate;              // time of copies that begin unevenly
constexpr double kStartBytes = 48 * kCopyBytes;  // of all cores, during the start of a copy
constexpr int64_t kManyRows = 64;                // that are worth joining
constexpr int64_t kHeads = 6;                    // times the room before a lane that pay for it
constexpr int64_t kLeastJoined = 64;             // elements of a channel, for less sums take long
constexpr double kMuchLess = 0.9;                // of the time, for which sums may take longer
constexpr double kUnequal = 0.95;    // what unequal loads have to take of the time of equal ones
constexpr int64_t kMostJoined = 64;  // channels, of which each core exchanges sums
constexpr int64_t kMaxGroup = 255;   // repeats of one instruction
constexpr int64_t kManyFlat = 128;   // channels, of one row or several, that repeats run over
constexpr int64_t kMostFlat = 1536;  // sums for which there is room beside a tile

void set_lanes(ChannelSumTiling& t, int64_t length, int64_t slots, const ChannelLimits& limits) {
    t.length = t.last_length = t.tail = t.last_tail = to_u32(length);
    const bool packed = length == t.lane_stride && length % kFloatsOfBlock == 0;
    t.pitch = to_u32(packed ? length : round_up(length, limits.aligned));
    t.slots = to_u32(slots);
}

// Whether tiles of whole rows begin better than parts of rows would: copied as one piece, from an
// even place on; and where stores are whole blocks, cores can share rows that end within one.
bool prefers_whole_rows(int64_t row, const ChannelLimits& limits) {
    const int64_t bytes = row * limits.element;
    const int64_t rows = limits.tile / row;
    if (limits.writes_blocks && bytes % kBlockBytes != 0) return rows > 0;
    return bytes % kEvenBytes != 0 && row % kFloatsOfBlock == 0 &&
           rows >= 2 * factor_to(bytes, kBlockBytes);
}

// How many rows to take as one so that it is whole blocks, if there is room for the lanes of
// kernels_ascendc/common/joined_rows.h; else 1.
int64_t joined_rows(const ChannelShape& shape, const ChannelLimits& limits) {
    const int64_t rows = factor_to(shape.channels, kFloatsOfBlock);
    const int64_t row = rows * shape.channels;
    const int64_t whole = factor_to(row * limits.element, kBlockBytes);
    const int64_t tile = limits.tile / (whole * row) * whole * row;
    const bool fits = tile >= std::max(row, 2 * (shape.channels + kStretch * 2 * kLanes));
    return limits.copies_bytes && fits && shape.outer >= kManyRows * rows ? rows : 1;
}

// Whether lanes of so many columns get room before each, so that their copies, one for each, begin
// evenly.
bool has_heads(const ChannelShape& shape, int64_t columns, const ChannelLimits& limits) {
    const bool is_odd = shape.channels * limits.element % kEvenBytes != 0;
    const bool is_gapless = columns == shape.channels && columns % kFloatsOfBlock == 0;
    const bool is_long = columns * limits.element >= kHeads * kEvenBytes;
    return limits.copies_bytes && is_odd && is_long && !is_gapless;
}

// What copies of so many columns of a row take besides the bytes, in bytes.
double piece_cost(const ChannelShape& shape, int64_t columns, const ChannelLimits& limits) {
    const int64_t row = shape.channels;
    if (columns == row && row % kFloatsOfBlock == 0) return 0.0;
    if (has_heads(shape, columns, limits)) return kCopyBytes + kEvenBytes / 2;
    const bool is_odd = row * limits.element % kEvenBytes != 0;
    const auto bytes = static_cast<double>(columns * limits.element);
    return kPieceBytes + (is_odd ? (kOddCopies - 1.0) * bytes : 0.0);
}

// What exchanging sums of so many columns takes, of a row.
double exchange_cost(const ChannelShape& shape, int64_t columns, const ChannelLimits& limits) {
    return static_cast<double>(limits.exchanged * columns) / static_cast<double>(shape.outer);
}

// Columns of a block. All blocks have as many cores, so they should be equal; they begin evenly if
// rows do. Narrow ones are more pieces of copies, and of wide ones more cores exchange sums.
int64_t block_columns(const ChannelShape& shape, const ChannelLimits& limits) {
    const int64_t even = kEvenBytes / limits.element, row = shape.channels;
    double least = 0.0;
    int64_t best = 0;
    for (int64_t end = even; best == 0 || end < row + even; end += even) {
        const int64_t columns = std::min(end, row);
        if (best > 0 && columns > limits.tile) break;
        const double cost = row_cost(shape, columns, limits);
        if (best == 0 || cost < least) {
            best = columns;
            least = cost;
        }
    }
    return best;
}

// S = 1, long rows or rows of whole blocks.
void tile_rows(const ChannelShape& shape, const ChannelLimits& limits, ChannelSumTiling& t) {
    const int64_t rows = joined_rows(shape, limits);
    const int64_t row = rows * shape.channels, even = kEvenBytes / limits.element;
    const bool is_whole = rows > 1 || prefers_whole_rows(row, limits);
    const int64_t columns = is_whole ? row : block_columns(shape, limits);
    t.layout = CHANNEL_SUM_ROWS;
    t.blocks = divide_up(row, columns);
    t.inner = t.last_inner = divide_up(shape.outer, rows);
    t.block_stride = columns;
    t.lane_stride = row;
    t.rows = to_u32(rows);
    t.group = t.block_channels = to_u32(columns / rows);
    set_lanes(t, columns, 1, limits);
    if (rows == 1 && has_heads(shape, columns, limits)) t.pitch += to_u32(even);
    int64_t slots = std::max<int64_t>(limits.tile / t.pitch, 1);
    slots = whole_multiple(slots, t.lane_stride * limits.element);
    t.slots = to_u32(std::min(slots, t.inner));
    t.last_length = to_u32(row - (t.blocks - 1) * columns);
    const int64_t missing = t.inner * rows - shape.outer;
    t.tail = to_u32(columns - missing * shape.channels);
    t.last_tail = to_u32(t.last_length - missing * shape.channels);
}

// Several whole rows to a lane.
void tile_groups(const ChannelShape& shape, const ChannelLimits& limits, ChannelSumTiling& t) {
    const int64_t row = shape.channels * shape.inner;
    const int64_t step = factor_to(row, kFloatsOfBlock);
    const int64_t most = limits.tile / kLanes / row;
    const int64_t wanted = std::max(divide_up(shape.outer, kLanes), divide_up(kLanes, row));
    int64_t rows = std::min(most, round_up(wanted, step));
    if (rows > step) rows = rows / step * step;
    t.layout = CHANNEL_SUM_GROUPS;
    t.blocks = 1;
    t.inner = t.last_inner = divide_up(shape.outer, rows);
    t.lane_stride = rows * row;
    t.rows = to_u32(rows);
    t.group = t.block_channels = to_u32(shape.channels);
    t.spatial = to_u32(shape.inner);
    set_lanes(t, rows * row, kLanes, limits);
    t.tail = t.last_tail = to_u32((shape.outer - (t.inner - 1) * rows) * row);
}

// Lanes of whole channels, neighbours in a row.
void tile_channels(const ChannelShape& shape, int64_t group, int64_t slots, uint32_t layout,
                   const ChannelLimits& limits, ChannelSumTiling& t) {
    const int64_t block = group * slots;
    t.layout = layout;
    t.blocks = divide_up(shape.channels, block);
    t.outer = shape.outer;
    t.outer_stride = shape.channels * shape.inner;
    t.block_stride = block * shape.inner;
    t.lane_stride = group * shape.inner;
    t.group = to_u32(group);
    t.spatial = to_u32(shape.inner);
    t.block_channels = to_u32(block);
    const int64_t rest = shape.channels - (t.blocks - 1) * block;
    t.last_inner = divide_up(rest, group);
    t.inner = t.blocks > 1 ? slots : t.last_inner;
    set_lanes(t, group * shape.inner, slots, limits);
    t.last_tail = to_u32((rest - (t.last_inner - 1) * group) * shape.inner);
}

void tile_pieces(const ChannelShape& shape, const ChannelLimits& limits, ChannelSumTiling& t) {
    const int64_t piece = std::max<int64_t>(kEvenBytes / limits.element, 64);
    t.layout = CHANNEL_SUM_PIECES;
    t.blocks = shape.channels;
    t.outer = shape.outer;
    t.inner = t.last_inner = divide_up(shape.inner, piece);
    t.outer_stride = shape.channels * shape.inner;
    t.block_stride = shape.inner;
    t.lane_stride = piece;
    t.group = t.block_channels = 1;
    t.spatial = to_u32(piece);
    const int64_t most = std::max<int64_t>(limits.tile / piece, 1);
    set_lanes(t, piece, even_part(t.inner, most), limits);
    t.tail = t.last_tail = to_u32(shape.inner - (t.inner - 1) * piece);
}

// Whether to load and store memory as it lies, where copies take whole blocks and channels are
// none: each is summed up at every load, which pays where they are long.
bool is_flat(const ChannelShape& shape, const ChannelLimits& limits) {
    const bool in_blocks = shape.inner * limits.element % kBlockBytes == 0;
    const bool few = limits.sums * shape.channels <= kMostFlat;
    const int64_t least = limits.flat ? 2 : limits.tile / kLanes + 1;
    return !limits.copies_bytes && !in_blocks && few && shape.outer * shape.channels > 1 &&
           shape.inner >= least && shape.inner <= INT32_MAX / 2;
}

void tile_flat(const ChannelShape& shape, const ChannelLimits& limits, ChannelSumTiling& t) {
    const int64_t piece = kEvenBytes / limits.element;
    t.layout = CHANNEL_SUM_FLAT;
    t.inner = t.last_inner = divide_up(shape.numel(), piece);
    t.lane_stride = piece;
    t.group = t.block_channels = to_u32(shape.channels);
    t.rows = to_u32(std::max<int64_t>(kManyFlat / shape.channels, 1));
    t.spatial = to_u32(shape.inner);
    set_lanes(t, piece, std::min(t.inner, std::max<int64_t>(limits.tile / piece, 1)), limits);
    t.tail = t.last_tail = to_u32(shape.numel() - (t.inner - 1) * piece);
}

// Whole channels per lane, so that lanes are packed if possible.
int64_t spread_group(const ChannelShape& shape, const ChannelLimits& limits) {
    const int64_t most = std::min(limits.tile / kLanes / shape.inner, kMaxGroup);
    const int64_t least = divide_up(kLanes, shape.inner);
    int64_t step = factor_to(shape.inner, kFloatsOfBlock);
    // Sums of a lane are whole blocks where nothing else can be copied.
    if (!limits.copies_bytes && most >= kFloatsOfBlock) step = kFloatsOfBlock;
    const int64_t wanted = std::min(most, round_up(divide_up(shape.channels, kLanes), step));
    int64_t group = wanted;
    if (wanted >= step) {
        const int64_t block = even_part(shape.channels, wanted / step * step * kLanes);
        group = round_up(divide_up(block, kLanes), step);
    }
    if (wanted < step) {
        // Equal blocks at least: products that store whole blocks cut between those only.
        while (group > 1 && shape.channels % (kLanes * group) != 0) --group;
        if (group == 1) group = wanted;
    }
    return std::max(group, least);
}

// Bytes that all cores could load while the slowest of `cores` makes its share of so many loads.
double joined_cost(int64_t loads, int64_t bytes, int64_t cores) {
    if (bytes % kEvenBytes != 0) bytes += kEvenBytes / 2;  // some begin early
    const auto each = static_cast<double>(divide_up(loads, cores));
    return each * (static_cast<double>(cores * bytes) + kStartBytes);
}

// What loads of so many neighbouring channels of a row take, of the time of their bytes.
double joined_share(const ChannelShape& shape, int64_t count, const ChannelLimits& limits) {
    const int64_t channel = shape.inner * limits.element, all = shape.outer * shape.channels;
    const int64_t loads = shape.outer * divide_up(shape.channels, count);
    const int64_t cores = joined_cores(loads, count * channel, limits);
    double cost = joined_cost(loads, count * channel, cores);
    if (const int64_t rest = shape.channels % count) {
        // Cores have as many channels: one with a row's last ones has more loads than others.
        const int64_t each = divide_up(all, cores), few = std::min(shape.outer, each / rest);
        const int64_t left = std::max<int64_t>(each - few * rest, 0);
        cost =
            std::max(cost, joined_cost(few * cores, rest * channel, cores) +
                               joined_cost(divide_up(left, count) * cores, count * channel, cores));
    }
    return cost / static_cast<double>(all * channel);
}

// Lanes of a channel each, at most, in loads that start the least often: cores have as many lanes,
// and one with a row's last ones has more loads than others.
int64_t fastest_channels(const ChannelShape& shape, int64_t most, const ChannelLimits& limits) {
    const int64_t each = divide_up(shape.outer * shape.channels, limits.cores);
    double least = 0.0;
    int64_t best = 0;
    for (int64_t count = most; count > 0; --count) {
        const int64_t rest = shape.channels % count;
        const int64_t few = rest > 0 ? std::min(shape.outer, each / rest) : 0;
        const int64_t loads = few + divide_up(each - few * rest, count) + 1;
        const bool is_early = count * shape.inner * limits.element % kEvenBytes != 0;
        const double cost = static_cast<double>(loads) * (kCopyBytes + is_early * kEvenBytes / 2);
        if (best > 0 && cost >= least) continue;
        best = count;
        least = cost;
    }
    return best;
}

// How many neighbouring channels to take as one stretch where that takes at most `least` of the
// time of their bytes; 0: none. Loads then begin with the first of them, best as many in every one.
int64_t joined_channels(const ChannelShape& shape, double least, const ChannelLimits& limits) {
    if (!limits.copies_bytes || shape.inner < kLeastJoined) return 0;
    const int64_t most = std::min({kMostJoined, limits.tile / shape.inner, shape.channels});
    int64_t best = 0;
    for (const bool divides : {true, false}) {
        if (!divides) least *= kUnequal;
        for (int64_t count = 1; count <= most; ++count) {
            const bool fits = count <= CHANNEL_SUM_MAX_CHANNELS || pays_turning(count, shape.inner);
            if (!fits || (shape.channels % count == 0) != divides) continue;
            const double share = joined_share(shape, count, limits);
            if (share > least) continue;
            best = count;  // the longest, which begin early the least often
            least = share;
        }
    }
    return best;
}

// What lanes of channels take at most of that time where they are joined instead: they begin
// unevenly, or there are several channels in each and some loads are short.
double worst_share(const ChannelShape& shape, bool has_odd_lanes, const ChannelLimits& limits) {
    if (has_odd_lanes) return kOddCopies;
    if (shape.inner > limits.tile / kLanes) return 0.0;
    return kMuchLess * joined_share(shape, kLanes * spread_group(shape, limits), limits);
}

}  // namespace

double row_cost(const ChannelShape& shape, int64_t columns, const ChannelLimits& limits) {
    const auto blocks = static_cast<double>(divide_up(shape.channels, columns));
    const auto bytes = static_cast<double>(columns * limits.element);
    return blocks * (bytes + piece_cost(shape, columns, limits)) +
           exchange_cost(shape, columns, limits);
}

double even_row_cost(const ChannelShape& shape, int64_t load, int64_t cores,
                     const ChannelLimits& limits) {
    const auto bytes = static_cast<double>(shape.channels * limits.element);
    const double share = static_cast<double>(cores) / static_cast<double>(limits.cores);
    return bytes + bytes / static_cast<double>(load) * kCopyBytes +
           share * exchange_cost(shape, shape.channels, limits);
}

int64_t joined_cores(int64_t loads, int64_t bytes, const ChannelLimits& limits) {
    const bool fewer =
        joined_cost(loads, bytes, limits.enough) < joined_cost(loads, bytes, limits.cores);
    return fewer ? limits.enough : limits.cores;
}

bool pays_turning(int64_t channels, int64_t length) {
    return 45 * channels > divide_up(channels, kLanes) * (280 + length / 2);
}

void choose_lanes(const ChannelShape& shape, const ChannelLimits& limits, ChannelSumTiling& t) {
    const int64_t row = shape.channels * shape.inner;
    const int64_t lane = limits.tile / kLanes;
    // Whether lanes of whole rows would have gaps.
    const bool gaps = lane / row < factor_to(row, kFloatsOfBlock);
    const bool has_odd_lanes = shape.inner <= lane
                                   ? lane / shape.inner < factor_to(shape.inner, kFloatsOfBlock)
                                   : shape.inner % limits.aligned != 0;
    if (shape.inner == 1 && (row % kFloatsOfBlock == 0 || row * limits.element >= kEvenBytes ||
                             (gaps && joined_rows(shape, limits) > 1))) {
        tile_rows(shape, limits, t);
    } else if (is_flat(shape, limits)) {
        tile_flat(shape, limits, t);
    } else if (row <= lane) {
        tile_groups(shape, limits, t);
    } else if (const int64_t joined =
                   joined_channels(shape, worst_share(shape, has_odd_lanes, limits), limits)) {
        tile_channels(shape, 1, joined, CHANNEL_SUM_CHANNELS, limits, t);
        t.pitch = t.length;
    } else if (shape.inner <= lane) {
        tile_channels(shape, spread_group(shape, limits), kLanes, CHANNEL_SUM_SPREAD, limits, t);
    } else if (2 * shape.inner + limits.aligned <= limits.tile && shape.channels > 1) {
        const int64_t pitch = round_up(shape.inner, limits.aligned);
        const int64_t most = std::min({kLanes, limits.tile / pitch, shape.channels});
        tile_channels(shape, 1, fastest_channels(shape, most, limits), CHANNEL_SUM_CHANNELS, limits,
                      t);
    } else {
        tile_pieces(shape, limits, t);
    }
}

}  // namespace ascend_grad::device
