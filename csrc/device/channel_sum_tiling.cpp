#include <algorithm>

#include "device/channel_sum_cores.h"
#include "device/channel_sum_rows.h"

namespace ascend_grad::device {
namespace {

constexpr int64_t kManyLoads = 1000;  // of all cores, beside which the last ones are little
// As the kernels ask for them: PReLU's constants, of 910A and elsewhere, there with what masks are
// rounded up by; ChannelLanes::kTailBytes of 910A.
constexpr uint64_t kConstantBytes910A = 768, kConstantBytes = 512, kTailBytes910A = 1536;

void set_spaces(const ChannelLimits& limits, ChannelSumTiling& t) {
    const bool flat = t.layout == CHANNEL_SUM_FLAT;
    const bool eights = flat || t.layout == CHANNEL_SUM_CHANNELS || t.layout == CHANNEL_SUM_PIECES;
    t.width = eights && !limits.copies_bytes ? 8 : 1;
    const int64_t group = round_up(t.group, kLanes);
    int64_t floats = eights ? round_up(t.block_channels, kLanes) : group;
    if (t.layout == CHANNEL_SUM_SPREAD) floats *= kLanes;
    if (t.layout == CHANNEL_SUM_ROWS)
        floats = t.rows > 1 ? group + kStretch * kLanes : std::max<int64_t>(group, t.pitch);
    t.vector_space = to_u32(floats);
    t.sum_space = to_u32(std::max<int64_t>(floats, int64_t{t.block_channels} * t.width));
    if (flat) t.sum_space = std::max(t.vector_space, t.rows * t.group) * kFloatsOfBlock;
    int64_t tile = t.period = t.slots * t.pitch;
    if (t.layout == CHANNEL_SUM_GROUPS || t.layout == CHANNEL_SUM_SPREAD)
        tile = std::max(tile, kLanes * std::max(round_up(t.length, limits.turned), group));
    t.turns = t.layout == CHANNEL_SUM_CHANNELS && t.width == 1 && pays_turning(t.slots, t.length);
    if (t.turns) {
        tile = std::max<int64_t>(tile, kLanes * (t.length + kLanes));
        set_shared_blocks(t.pitch, t);
    }
    // Sums of parts of channels; of the first and the last one there is less than a channel.
    if (flat) tile = std::max(tile, tile * kFloatsOfBlock / t.spatial) + 2 * kSlack;
    t.tile = to_u32(round_up(std::max<int64_t>(tile, 1024) + kSlack, kSlack));
    t.load_slots = t.slots;
    t.load = t.tile;
    t.spare_sums = to_u32(limits.sums + 1);
    // Channels without gaps between them, wherever each begins.
    t.joined = t.layout == CHANNEL_SUM_CHANNELS && t.pitch % kFloatsOfBlock != 0;
}

// Whether lanes that are transposed have gaps between them, of which nothing is known.
bool has_gaps(const ChannelSumTiling& t) {
    const bool is_transposed = t.layout == CHANNEL_SUM_GROUPS || t.layout == CHANNEL_SUM_SPREAD;
    return is_transposed && t.pitch != t.lane_stride;
}

// Bytes of unified buffer with work tiles of so many elements.
uint64_t bytes_with(const ChannelSumTiling& t, const ChannelSumKernel& kernel,
                    const Product& product, uint64_t elements) {
    const uint64_t tile = t.tile;
    const uint64_t work = std::max<uint64_t>(kernel.work, product.arch == 100 ? 1 : 0);
    uint64_t bytes = 2 * t.input_buffers * (uint64_t{t.load} * kernel.element_bytes + kEvenBytes);
    const uint64_t work_bytes = work * elements * sizeof(float);
    bytes += (1 + kernel.sums) * tile * sizeof(float) + work_bytes;
    if (kernel.writes)
        bytes += product.arch == 100 ? work_bytes + kConstantBytes910A
                                     : (tile + t.load) / 8 + kConstantBytes;
    if (product.arch == 100) bytes += kTailBytes910A;
    if (kernel.vector_bytes < sizeof(float)) bytes += 2 * t.vector_space * kernel.vector_bytes;
    bytes +=
        (2 * t.vector_space + (kernel.sums + t.spare_sums) * t.sum_space + kSlack) * sizeof(float);
    return bytes + 512;
}

// Two work tiles are together as large as a tile: what needs both at once goes through it in parts.
// Not where gaps would come to lie among the values that are expanded there. Where nothing is
// written this is only for longer loads of joined channels: it takes an instruction more, and
// longer after a core's last load.
uint32_t work_elements(const ChannelSumTiling& t, const ChannelSumKernel& kernel,
                       const Product& product) {
    const uint32_t half = to_u32(round_up(t.tile / 2, kSlack));
    if (kernel.work != 2 || has_gaps(t)) return t.tile;
    if (kernel.writes) return half;
    const bool fits = bytes_with(t, kernel, product, t.tile) <= product.buffer_bytes;
    const bool pays = t.joined && t.outer * t.blocks >= kManyLoads;
    return pays && !fits ? half : t.tile;
}

// Copies are best long; what is worked on at once need not be, and takes more room.
void lengthen_loads(const ChannelSumKernel& kernel, const Product& product, ChannelSumTiling& t) {
    if (product.arch == 100) return;  // the vector unit bounds it: instructions are best long too
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
        longer.period = to_u32(slots * t.pitch);
        const int64_t tile = std::max<int64_t>(longer.period, 1024);
        longer.tile = to_u32(round_up(tile + kSlack, kSlack));
        longer.load_slots = to_u32(tiles * slots);
        longer.load = to_u32(round_up(tiles * slots * t.pitch + kSlack, kSlack));
        longer.work = work_elements(longer, kernel, product);
        if (buffer_bytes(longer, kernel, product) > product.buffer_bytes) break;
        if (longer.load_slots > best.load_slots) best = longer;
    }
    t = best;
    // Of a channel's pieces equal loads: a long one would wait for both buffers.
    if (t.layout == CHANNEL_SUM_PIECES) t.load_slots = to_u32(even_part(t.inner, t.load_slots));
}

// Where cores begin: evenly, and on products that store whole blocks never within one.
void set_cut(ChannelSumTiling& t, const ChannelSumKernel& kernel, const Product& product) {
    const auto is_whole = [&](int64_t stride) {
        return stride * kernel.element_bytes % kBlockBytes == 0;
    };
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
}

// Nothing overlaps with what comes after the last load. Where that is little beside what the parts
// read more, because of where they begin, or slow at short loads, it stays whole.
uint32_t whole_load(const ChannelSumTiling& t, const ChannelSumKernel& kernel,
                    const Product& product) {
    const bool begins_oddly = t.layout == CHANNEL_SUM_SPREAD && !kernel.writes;
    return product.arch == 100 || begins_oddly ? t.load : to_u32(kTile);
}

// While the sums of the block before are made, two loads of the last one arrive. Of results the
// last ones are stored while other cores' sums are waited for.
uint32_t few_units(const ChannelSumTiling& t, const ChannelSumKernel& kernel) {
    return kernel.writes ? 0 : to_u32(2 * std::min<int64_t>(t.load_slots, t.inner));
}

// Lanes and buffers, in the longest tiles that fit.
ChannelSumTiling fit_lanes(const ChannelShape& shape, const ChannelSumKernel& kernel,
                           const Product& product, ChannelLimits limits) {
    ChannelSumTiling t{};
    for (limits.tile = 16384;; limits.tile -= 64) {
        t = {};
        t.cut = t.blocks = t.outer = t.inner = t.last_inner = 1;
        t.rows = t.group = t.spatial = 1;
        t.block_channels = 1;
        t.channels = shape.channels;
        if (shape.numel() > 0) {
            choose_lanes(shape, limits, t);
            t.units = t.outer * ((t.blocks - 1) * t.inner + t.last_inner);
        }
        set_spaces(limits, t);
        t.input_buffers = input_buffers(t, kernel, product);
        t.work = work_elements(t, kernel, product);
        if (buffer_bytes(t, kernel, product) <= product.buffer_bytes) return t;
    }
}

}  // namespace

uint32_t input_buffers(const ChannelSumTiling& t, const ChannelSumKernel& kernel,
                       const Product& product) {
    const bool stores_long = kernel.writes && kernel.element_bytes == 2 && product.arch != 100 &&
                             !(t.layout == CHANNEL_SUM_SPREAD && has_gaps(t));
    return stores_long ? 3 : 2;
}

uint64_t buffer_bytes(const ChannelSumTiling& t, const ChannelSumKernel& kernel,
                      const Product& product) {
    return bytes_with(t, kernel, product, t.work);
}

ChannelSumTiling tile_channel_sum(const ChannelShape& tensor, const ChannelSumKernel& kernel,
                                  const Product& product, uint32_t& cores) {
    ChannelShape shape = tensor;
    if (shape.channels == 1) shape = {1, 1, tensor.numel()};  // one run of memory
    ChannelLimits limits{};
    limits.element = kernel.element_bytes;
    limits.cores = product.cores;
    limits.enough = enough_cores(kernel, product);
    limits.sums = kernel.sums;
    // Each core's are stored and loaded, in short pieces and overlapping with nothing: thrice as
    // long as data, of which there are two or three tensors.
    limits.exchanged = 3 * 2 * int64_t{product.cores} * kernel.sums * 4 / (kernel.writes ? 3 : 2);
    limits.turned = product.arch == 100 ? kLanes : kFloatsOfBlock;
    limits.copies_bytes = product.has_byte_copies;
    limits.writes_blocks = kernel.writes && !product.has_byte_copies;
    limits.aligned = std::max<int64_t>(kFloatsOfBlock, kBlockBytes / limits.element);
    ChannelSumTiling t = fit_lanes(shape, kernel, product, limits);
    if (limits.writes_blocks && t.units > 1) {
        set_cut(t, kernel, product);
        // Of channels shorter than a block lanes with gaps are cheaper.
        limits.flat = t.cut == t.units || (has_gaps(t) && t.spatial >= kFloatsOfBlock);
        if (limits.flat) t = fit_lanes(shape, kernel, product, limits);
    }
    cores = 1;
    if (shape.numel() == 0) return t;
    if (!tile_even_rows(shape, kernel, product, limits, t)) lengthen_loads(kernel, product, t);
    t.whole_load = whole_load(t, kernel, product);
    t.few_units = few_units(t, kernel);
    // Of one tile the first sum is made while the second input arrives.
    if (t.layout == CHANNEL_SUM_EVEN_ROWS && !kernel.writes)
        t.whole_load = std::min(t.whole_load, t.period);
    set_cut(t, kernel, product);
    cores = share_out(shape, kernel, limits, t);
    t.partial_pitch = round_up(shape.channels * t.width, kEvenBytes / 4);
    t.partials = product.has_core_barrier ? 0 : round_up(cores * 32, kEvenBytes);
    return t;
}

}  // namespace ascend_grad::device
