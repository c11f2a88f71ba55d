#include "device/channel_sum_tiling.h"
#include "core/integers.h"

#include <algorithm>
#include <numeric>

namespace ascend_grad::device {
namespace {

constexpr int64_t kLanes = 16;
constexpr int64_t kEvenBytes = 512;  // where GM transfers begin best
constexpr int64_t kBlockBytes = 32;
constexpr int64_t kFloatsOfBlock = 8;
constexpr double kCopyBytes = 540;             // that take as long as the start of a copy,
constexpr double kPieceBytes = 72;             // or another piece of it
constexpr double kOddCopies = 1 / 0.7;         // time of copies that begin unevenly
constexpr int64_t kLeastCoreBytes = 16 << 10;  // that pay for starting another core
constexpr uint32_t kReadingCores = 32;         // that load what global memory delivers
constexpr int64_t kLeastPerExchanged = 32;     // bytes of data; for less, cores are too many
constexpr int64_t kLeastPerEvenly = 200;       // the same where fewer load as fast
constexpr int64_t kManyRows = 64;              // that are worth joining
constexpr int64_t kStretch = 9;                // elements by which a lane there may be longer
constexpr int64_t kHeads = 6;                  // times the room before a lane that pay for it
constexpr int64_t kLeastJoined = 64;           // elements of a channel, for less sums take long
constexpr int64_t kMaxGroup = 255;             // repeats of one instruction
constexpr int64_t kTile = 4096;                // elements that keep the vector unit busy
constexpr int64_t kLoads = 4;                  // of a core, at least: they overlap with its work
constexpr int64_t kSlack = 64;                 // elements that instructions may touch behind a tile

// The smallest f for which f * value is a multiple of `multiple`.
int64_t factor_to(int64_t value, int64_t multiple) {
    return multiple / std::gcd(value, multiple);
}

// The size of equal parts of at most that size.
int64_t even_part(int64_t whole, int64_t most) {
    return divide_up(whole, divide_up(whole, most));
}

// As many of `most` lanes that begin `stride` bytes apart as end evenly, or at least with a block.
int64_t whole_multiple(int64_t most, int64_t stride) {
    for (int64_t bytes : {kEvenBytes, kBlockBytes}) {
        const int64_t lanes = factor_to(stride, bytes);
        if (lanes <= most) return most / lanes * lanes;
    }
    return most;
}

// Facts that the choice of lanes depends on.
struct Limits {
    int64_t tile;     // elements of a tile
    int64_t packed;   // lanes of a multiple of that many elements need no gaps between them, and
                      // instructions that transpose lanes take so many at a time
    int64_t aligned;  // distance of lanes that have gaps is a multiple of that
    int64_t element;  // bytes
    int64_t cores;
    int64_t exchanged;   // bytes that take as long as exchanging the sums of a column
    bool copies_bytes;   // any number of them, not only blocks of 32
    bool writes_blocks;  // results are stored as such blocks
};

uint32_t to_u32(int64_t value) {
    return static_cast<uint32_t>(value);
}

void set_lanes(ChannelSumTiling& t, int64_t length, int64_t slots, const Limits& limits) {
    t.length = t.last_length = t.tail = t.last_tail = to_u32(length);
    const bool packed = length == t.lane_stride && length % limits.packed == 0;
    t.pitch = to_u32(packed ? length : round_up(length, limits.aligned));
    t.slots = to_u32(slots);
}

// Whether tiles of whole rows begin better than parts of rows would: copied as one piece, from an
// even place on; and where stores are whole blocks, cores can share rows that end within one.
bool prefers_whole_rows(int64_t row, const Limits& limits) {
    const int64_t bytes = row * limits.element;
    const int64_t rows = limits.tile / row;
    if (limits.writes_blocks && bytes % kBlockBytes != 0) return rows > 0;
    return bytes % kEvenBytes != 0 && row % limits.packed == 0 &&
           rows >= 2 * factor_to(bytes, kBlockBytes);
}

// How many rows to take as one so that it is whole blocks, if there is room for the lanes of
// kernels_ascendc/common/joined_rows.h; else 1.
int64_t joined_rows(const ChannelShape& shape, const Limits& limits) {
    const int64_t rows = factor_to(shape.channels, limits.packed);
    const int64_t row = rows * shape.channels;
    const int64_t whole = factor_to(row * limits.element, kBlockBytes);
    const int64_t tile = limits.tile / (whole * row) * whole * row;
    const bool fits = tile >= std::max(row, 2 * (shape.channels + kStretch * 2 * kLanes));
    return limits.copies_bytes && fits && shape.outer >= kManyRows * rows ? rows : 1;
}

// Whether lanes of so many columns get room before each, so that their copies, one for each, begin
// evenly.
bool has_heads(const ChannelShape& shape, int64_t columns, const Limits& limits) {
    const bool is_odd = shape.channels * limits.element % kEvenBytes != 0;
    const bool is_gapless = columns == shape.channels && columns % limits.packed == 0;
    const bool is_long = columns * limits.element >= kHeads * kEvenBytes;
    return limits.copies_bytes && is_odd && is_long && !is_gapless;
}

// What copies of so many columns of a row take besides the bytes, in bytes.
double piece_cost(const ChannelShape& shape, int64_t columns, const Limits& limits) {
    const int64_t row = shape.channels;
    if (columns == row && row % limits.packed == 0) return 0.0;
    if (has_heads(shape, columns, limits)) return kCopyBytes + kEvenBytes / 2;
    const bool is_odd = row * limits.element % kEvenBytes != 0;
    const auto bytes = static_cast<double>(columns * limits.element);
    return kPieceBytes + (is_odd ? (kOddCopies - 1.0) * bytes : 0.0);
}

// Columns of a block. All blocks have as many cores, so they should be equal; they begin evenly if
// rows do. Narrow ones are more pieces of copies, and of wide ones more cores exchange sums.
int64_t block_columns(const ChannelShape& shape, const Limits& limits) {
    const int64_t even = kEvenBytes / limits.element, row = shape.channels;
    double least = 0.0;
    int64_t best = 0;
    for (int64_t end = even; best == 0 || end < row + even; end += even) {
        const int64_t columns = std::min(end, row);
        if (best > 0 && columns > limits.tile) break;
        const auto blocks = static_cast<double>(divide_up(row, columns));
        const auto bytes = static_cast<double>(columns * limits.element);
        const double exchanged =
            static_cast<double>(limits.exchanged * columns) / static_cast<double>(shape.outer);
        const double cost = blocks * (bytes + piece_cost(shape, columns, limits)) + exchanged;
        if (best == 0 || cost < least) {
            best = columns;
            least = cost;
        }
    }
    return best;
}

// S = 1, long rows or rows of whole blocks.
void tile_rows(const ChannelShape& shape, const Limits& limits, ChannelSumTiling& t) {
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
void tile_groups(const ChannelShape& shape, const Limits& limits, ChannelSumTiling& t) {
    const int64_t row = shape.channels * shape.inner;
    const int64_t step = factor_to(row, limits.packed);
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
                   const Limits& limits, ChannelSumTiling& t) {
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

void tile_pieces(const ChannelShape& shape, const Limits& limits, ChannelSumTiling& t) {
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
    set_lanes(t, piece, divide_up(t.inner, divide_up(t.inner, most)), limits);
    t.tail = t.last_tail = to_u32(shape.inner - (t.inner - 1) * piece);
}

// Whole channels per lane, so that lanes are packed if possible.
int64_t spread_group(const ChannelShape& shape, const Limits& limits) {
    const int64_t most = std::min(limits.tile / kLanes / shape.inner, kMaxGroup);
    const int64_t least = divide_up(kLanes, shape.inner);
    const int64_t step = factor_to(shape.inner, limits.packed);
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

// How many neighbouring channels to take as one stretch where a lane each would leave gaps; 0:
// none. Loads then begin with the first of them only, so that there must be as many in every one.
int64_t joined_channels(const ChannelShape& shape, const Limits& limits) {
    if (!limits.copies_bytes || shape.inner < kLeastJoined) return 0;
    const int64_t most = std::min<int64_t>(CHANNEL_SUM_MAX_CHANNELS, limits.tile / shape.inner);
    int64_t best = 0;
    double least = kOddCopies;
    for (int64_t count = 1; count <= most; ++count) {
        if (shape.channels % count != 0) continue;
        const int64_t loads = shape.outer * shape.channels / count;
        const auto slowest = static_cast<double>(round_up(loads, limits.cores));
        const auto bytes = static_cast<double>(count * shape.inner * limits.element);
        const double cost = slowest / static_cast<double>(loads) * (1.0 + kCopyBytes / bytes);
        if (cost < least) {
            best = count;
            least = cost;
        }
    }
    return best;
}

void choose_lanes(const ChannelShape& shape, const Limits& limits, ChannelSumTiling& t) {
    const int64_t row = shape.channels * shape.inner;
    const int64_t lane = limits.tile / kLanes;
    // Whether lanes of whole rows would have gaps.
    const bool gaps = lane / row < factor_to(row, limits.packed);
    const bool has_odd_lanes = shape.inner <= lane
                                   ? lane / shape.inner < factor_to(shape.inner, limits.packed)
                                   : shape.inner % limits.aligned != 0;
    if (shape.inner == 1 && (row % limits.packed == 0 || row * limits.element >= kEvenBytes ||
                             (gaps && joined_rows(shape, limits) > 1))) {
        tile_rows(shape, limits, t);
    } else if (row <= lane) {
        tile_groups(shape, limits, t);
    } else if (const int64_t joined = has_odd_lanes ? joined_channels(shape, limits) : 0) {
        tile_channels(shape, 1, joined, CHANNEL_SUM_CHANNELS, limits, t);
        t.pitch = t.length;
    } else if (shape.inner <= lane) {
        tile_channels(shape, spread_group(shape, limits), kLanes, CHANNEL_SUM_SPREAD, limits, t);
    } else if (2 * shape.inner + limits.aligned <= limits.tile && shape.channels > 1) {
        const int64_t pitch = round_up(shape.inner, limits.aligned);
        const int64_t slots = std::min({kLanes, limits.tile / pitch, shape.channels});
        tile_channels(shape, 1, even_part(shape.channels, slots), CHANNEL_SUM_CHANNELS, limits, t);
    } else {
        tile_pieces(shape, limits, t);
    }
}

void set_spaces(const Limits& limits, ChannelSumTiling& t) {
    const bool eights = t.layout == CHANNEL_SUM_CHANNELS || t.layout == CHANNEL_SUM_PIECES;
    t.width = eights && !limits.copies_bytes ? 8 : 1;
    const int64_t group = round_up(t.group, kLanes);
    int64_t floats = eights ? round_up(t.block_channels, kLanes) : group;
    if (t.layout == CHANNEL_SUM_SPREAD) floats *= kLanes;
    if (t.layout == CHANNEL_SUM_ROWS)
        floats = t.rows > 1 ? group + kStretch * kLanes : std::max<int64_t>(group, t.pitch);
    t.vector_space = to_u32(floats);
    t.sum_space = to_u32(std::max<int64_t>(floats, int64_t{t.block_channels} * t.width));
    int64_t tile = int64_t{t.slots} * t.pitch;
    if (t.layout == CHANNEL_SUM_GROUPS || t.layout == CHANNEL_SUM_SPREAD)
        tile = std::max(tile, kLanes * std::max(round_up(t.length, limits.packed), group));
    t.tile = to_u32(round_up(std::max<int64_t>(tile, 1024) + kSlack, kSlack));
    t.load_slots = t.slots;
    t.load = t.tile;
}

// Copies are best long; what is worked on at once need not be, and takes more room.
void lengthen_loads(const ChannelSumKernel& kernel, const Product& product, ChannelSumTiling& t) {
    if (t.layout != CHANNEL_SUM_ROWS && t.layout != CHANNEL_SUM_PIECES) return;
    const int64_t bytes = t.lane_stride * kernel.element_bytes;
    const int64_t slots =
        std::min<int64_t>(t.slots, whole_multiple(std::max<int64_t>(kTile / t.pitch, 1), bytes));
    if (slots * t.pitch * kernel.element_bytes % kBlockBytes != 0) return;
    ChannelSumTiling best = t;
    const int64_t lanes = divide_up(t.units, product.cores);  // of a core
    for (int64_t tiles = 2; tiles * slots * kLoads <= lanes; ++tiles) {
        ChannelSumTiling longer = t;
        longer.slots = to_u32(slots);
        const int64_t tile = std::max<int64_t>(slots * t.pitch, 1024);
        longer.tile = to_u32(round_up(tile + kSlack, kSlack));
        longer.load_slots = to_u32(tiles * slots);
        longer.load = to_u32(round_up(tiles * slots * t.pitch + kSlack, kSlack));
        if (buffer_bytes(longer, kernel, product) > product.buffer_bytes) break;
        if (longer.load_slots > best.load_slots) best = longer;
    }
    t = best;
    // Of a channel's pieces equal loads: a long one would wait for both buffers.
    if (t.layout == CHANNEL_SUM_PIECES) t.load_slots = to_u32(even_part(t.inner, t.load_slots));
}

// Where cores begin: evenly, and on products that store whole blocks never within one.
void set_cut(ChannelSumTiling& t, const ChannelSumKernel& kernel, const Product& product) {
    const auto is_whole = [&](int64_t stride) { return stride * kernel.element_bytes % 32 == 0; };
    const bool rows =
        t.blocks == 1 && (t.layout == CHANNEL_SUM_ROWS || t.layout == CHANNEL_SUM_GROUPS);
    if (kernel.writes && !product.has_byte_copies) {
        const bool whole_runs = (t.outer == 1 || is_whole(t.outer_stride)) &&
                                (t.blocks == 1 || is_whole(t.block_stride));
        const bool equal_runs = t.blocks == 1 || t.inner == t.last_inner;
        if (!whole_runs || !is_whole(t.lane_stride)) {
            const bool runs = whole_runs && equal_runs && t.layout != CHANNEL_SUM_ROWS;
            t.cut = rows   ? factor_to(t.lane_stride * kernel.element_bytes, kBlockBytes)
                    : runs ? t.inner
                           : t.units;
            return;
        }
    }
    t.cut = 1;
    for (int64_t bytes : {kBlockBytes, kEvenBytes}) {
        const int64_t even = factor_to(t.lane_stride * kernel.element_bytes, bytes);
        if (rows && even <= t.load_slots) t.cut = even;
    }
    // Joined channels: loads begin with the first one.
    if (t.layout == CHANNEL_SUM_CHANNELS && t.pitch % kFloatsOfBlock != 0) t.cut = t.inner;
}

// As in kernels_ascendc/common/channel_walk.h.
int64_t owner(int64_t item, int64_t items, int64_t cores) {
    return ((item + 1) * cores - 1) / items;
}

// The most cores that share one block.
int64_t most_contributions(const ChannelSumTiling& t, int64_t cores) {
    const int64_t shares = divide_up(t.units, t.cut);
    const int64_t units = t.outer * t.inner;
    int64_t most = 1;
    for (int64_t block = 0; block < t.blocks && most < cores; ++block) {
        const int64_t first = block * units;
        const int64_t last = block == t.blocks - 1 ? t.units - 1 : first + units - 1;
        most = std::max(
            most, owner(last / t.cut, shares, cores) - owner(first / t.cut, shares, cores) + 1);
    }
    return most;
}

// Whether kReadingCores load as fast as more: in pieces without gaps, none of two blocks.
bool shares_evenly(const ChannelSumTiling& t) {
    const bool loads_runs = t.pitch == t.lane_stride;
    const bool even = t.layout == CHANNEL_SUM_SPREAD && kReadingCores % t.blocks == 0;
    return loads_runs && (even || t.blocks == 1);
}

// Whether lanes that are transposed have gaps between them, of which nothing is known.
bool has_gaps(const ChannelSumTiling& t) {
    const bool is_transposed = t.layout == CHANNEL_SUM_GROUPS || t.layout == CHANNEL_SUM_SPREAD;
    return is_transposed && t.pitch != t.lane_stride;
}

// Two work tiles are together as large as a tile: what needs both at once goes through it in parts.
// Not where gaps would come to lie among the values that are expanded there.
uint32_t work_elements(const ChannelSumTiling& t, const ChannelSumKernel& kernel) {
    const bool halves = kernel.work == 2 && kernel.writes && !has_gaps(t);
    return halves ? to_u32(round_up(t.tile / 2, kSlack)) : t.tile;
}

// Nothing overlaps with what comes after the last load. Where that is little beside what the parts
// read more, because of where they begin, or slow at short loads, it stays whole.
uint32_t whole_load(const ChannelSumTiling& t, const ChannelSumKernel& kernel,
                    const Product& product) {
    const bool begins_oddly = t.layout == CHANNEL_SUM_SPREAD && !kernel.writes;
    return product.arch == 100 || begins_oddly ? t.load : to_u32(kTile);
}

// Partial sums are written once and read once.
int64_t exchanged_bytes(const ChannelSumTiling& t, const ChannelSumKernel& kernel) {
    const auto floats = int64_t{t.contributions} * kernel.sums * t.width;
    return floats * t.channels * 2 * static_cast<int64_t>(sizeof(float));
}

}  // namespace

uint64_t buffer_bytes(const ChannelSumTiling& t, const ChannelSumKernel& kernel,
                      const Product& product) {
    const uint64_t tile = t.tile;
    const uint64_t work = std::max<uint64_t>(kernel.work, product.arch == 100 ? 1 : 0);
    uint64_t bytes = 2 * t.input_buffers * (uint64_t{t.load} * kernel.element_bytes + kEvenBytes);
    bytes += ((1 + kernel.sums) * tile + work * work_elements(t, kernel)) * sizeof(float);
    if (kernel.writes) bytes += tile / 8 + 512;
    if (kernel.vector_bytes < sizeof(float)) bytes += 2 * t.vector_space * kernel.vector_bytes;
    bytes += (2 * t.vector_space + (2 * kernel.sums + 1) * t.sum_space + kSlack) * sizeof(float);
    return bytes + 512;
}

ChannelSumTiling tile_channel_sum(const ChannelShape& shape, const ChannelSumKernel& kernel,
                                  const Product& product, uint32_t& cores) {
    ChannelSumTiling t{};
    const int64_t align = product.arch == 100 ? 16 : 8;
    Limits limits{};
    limits.element = kernel.element_bytes;
    limits.cores = product.cores;
    // Each core's are stored and loaded, in short pieces and overlapping with nothing: thrice as
    // long as data, of which there are two or three tensors.
    limits.exchanged =
        3 * 2 * int64_t{product.cores} * kernel.sums * sizeof(float) / (kernel.writes ? 3 : 2);
    limits.packed = align;
    limits.copies_bytes = product.has_byte_copies;
    limits.writes_blocks = kernel.writes && !product.has_byte_copies;
    limits.aligned = std::max<int64_t>(align, 32 / limits.element);
    for (limits.tile = 16384;; limits.tile -= 64) {
        t = {};
        t.cut = t.blocks = t.outer = t.inner = t.last_inner = 1;
        t.rows = t.group = t.spatial = 1;
        t.block_channels = 1;
        t.channels = shape.channels;
        if (shape.numel() > 0) choose_lanes(shape, limits, t);
        set_spaces(limits, t);
        // One to load, one to work on and one to store from; channels with gaps need larger ones.
        const bool stores_long = kernel.writes && kernel.element_bytes == 2 &&
                                 product.arch != 100 &&
                                 !(t.layout == CHANNEL_SUM_SPREAD && has_gaps(t));
        t.input_buffers = stores_long ? 3 : 2;
        if (buffer_bytes(t, kernel, product) <= product.buffer_bytes) break;
    }
    cores = 1;
    if (shape.numel() > 0) {
        t.units = t.outer * ((t.blocks - 1) * t.inner + t.last_inner);
        lengthen_loads(kernel, product, t);
    }
    t.work = work_elements(t, kernel);
    if (shape.numel() == 0) return t;
    t.whole_load = whole_load(t, kernel, product);
    set_cut(t, kernel, product);
    const int64_t bytes = shape.numel() * kernel.element_bytes * (kernel.writes ? 3 : 2);
    const int64_t useful = std::min(divide_up(t.units, t.cut), divide_up(bytes, kLeastCoreBytes));
    cores = to_u32(std::min<int64_t>(product.cores, useful));
    t.contributions = to_u32(most_contributions(t, cores));
    const int64_t least = shares_evenly(t) ? kLeastPerEvenly : kLeastPerExchanged;
    if (!kernel.writes && cores > kReadingCores && exchanged_bytes(t, kernel) * least > bytes) {
        cores = kReadingCores;
        t.contributions = to_u32(most_contributions(t, cores));
    }
    t.partial_pitch = round_up(shape.channels * t.width, kEvenBytes / 4);
    t.partials = product.has_core_barrier ? 0 : round_up(cores * 32, kEvenBytes);
    return t;
}

}  // namespace ascend_grad::device
