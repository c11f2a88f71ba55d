// Traversals of whole planes, and the choice among all.
#include <algorithm>
#include <numeric>

#include "core/integers.h"
#include "ops/softmax_backward/tiler.h"

namespace ascend_grad::softmax_backward {
namespace {

constexpr int64_t kLanes = 16;
constexpr int64_t kMinRowTileBytes = 4 << 10;
constexpr int64_t kRowsAtOnce = 8;
constexpr int64_t kLongestPeriod = 4080;  // of small planes' sums, in elements
// Estimates, to choose by.
constexpr double kElementCycles = 0.15;   // of vector instructions, of float32
constexpr double kWideningCycles = 0.25;  // of 16-bit elements
constexpr double kSharedFactor = 1.005;   // more time, before cores meet inside blocks

}  // namespace

int64_t saturating_blocks(const device::Product& product) {
    return product.arch == 220 ? std::min(device::kSaturatingCores, product.cores) : product.cores;
}

int64_t most_blocks(const Shape& shape, const device::Product& product) {
    const int64_t blocks =
        shape.numel() * (2 * shape.in_size + shape.out_size) / device::kLeastCoreBytes;
    return std::clamp<int64_t>(blocks, 1, product.cores);
}

int64_t best_blocks(int64_t groups, int64_t most, const device::Product& product) {
    const int64_t saturating = saturating_blocks(product);
    const auto time = [&](int64_t blocks) {
        return divide_up(groups, blocks) * std::max(blocks, saturating);
    };
    most = std::min(most, groups);
    int64_t least = INT64_MAX;
    for (int64_t blocks = 1; blocks <= most; ++blocks) least = std::min(least, time(blocks));
    // More cores compute faster at nearly the same share of the bandwidth.
    while (time(most) > least + least / 64) --most;
    return most;
}

namespace {

SoftmaxBackwardTiling basic_tiling(const Shape& shape, SoftmaxBackwardTraversal traversal) {
    SoftmaxBackwardTiling t{};
    t.length = shape.length;
    t.inner = shape.inner;
    t.items = shape.outer;
    t.items_per_group = 1;
    t.strips_per_plane = 1;
    t.traversal = traversal;
    t.parts = 1;
    t.input_buffers = 2;
    return t;
}

// Whole planes, in sixteen lanes of equal length. False where not even one plane fits into a lane,
// or where lanes would not begin at blocks and the product cannot load them.
bool tile_lanes(const Shape& shape, const device::Product& product, SoftmaxBackwardTiling& t,
                uint32_t& blocks) {
    const int64_t plane = shape.length * shape.inner;
    const int64_t element = 4 * shape.in_size + 2 * shape.out_size + 3 * 4;
    const int64_t longest =
        (product.buffer_bytes - tail_bytes(product)) / element / kLanes / kLanes * kLanes;
    const int64_t unit = kLanes / std::gcd(plane, kLanes);  // planes to a multiple of 16 elements
    int64_t planes = longest / plane;
    if (planes == 0 || shape.length == 1) return false;
    const bool aligned = planes >= unit;
    // Rows are better then, but not columns.
    if (!aligned && (!product.has_byte_copies || shape.inner == 1)) return false;
    t = basic_tiling(shape, kSoftmaxLanes);
    // Sixteen lanes of a multiple of 16 elements end at a multiple of 512 bytes.
    t.items_per_group = kLanes * (aligned ? unit : planes);
    t.groups = divide_up(t.items, t.items_per_group);
    blocks = static_cast<uint32_t>(best_blocks(t.groups, most_blocks(shape, product), product));
    if (aligned) {
        const int64_t share = divide_up(t.groups, blocks) * unit;
        planes = std::min(planes / unit * unit, share);
    }
    t.tile = static_cast<uint32_t>(planes);
    t.pitch = static_cast<uint32_t>(round_up(planes * plane, kLanes));
    t.buffer = static_cast<uint32_t>(kLanes * t.pitch);
    return true;
}

// Of rows, or planes, as they lie, that are shared out in groups.
double rows_cycles(const Shape& shape, const device::Product& product, int64_t rows) {
    const int64_t groups = divide_up(shape.outer, rows), most = most_blocks(shape, product);
    const int64_t blocks = best_blocks(groups, most, product);
    const auto busy = static_cast<double>(std::max(blocks, saturating_blocks(product)));
    const auto length = static_cast<double>(shape.length * shape.inner);
    const auto share = static_cast<double>(divide_up(groups, blocks) * rows);
    const double copies =
        length * static_cast<double>(2 * shape.in_size + shape.out_size) / device::kSharedRate;
    const double computing = length * (shape.in_size == 4 ? kElementCycles : kWideningCycles);
    return share * std::max(copies * busy / product.cores, computing);
}

// Rows after which one ends with a block.
int64_t rows_to_block(const Shape& shape) {
    const int64_t block = device::kBlockBytes / shape.least_size();
    return block / std::gcd(shape.length * shape.inner, block);
}

// Between cores: blocks of 32 bytes where products store no less, else 512 bytes as long as that
// leaves every core some groups, or any row where that shares out better.
int64_t rows_per_group(const Shape& shape, const device::Product& product) {
    const int64_t whole = rows_to_block(shape),
                  row_bytes = shape.length * shape.inner * shape.least_size();
    if (!product.has_byte_copies) return whole;
    if (row_bytes >= 64 &&
        rows_cycles(shape, product, whole) > kSharedFactor * rows_cycles(shape, product, 1)) {
        return 1;
    }
    int64_t rows = device::kEvenBytes / std::gcd(row_bytes, device::kEvenBytes);
    while (rows > whole && shape.outer < 16 * product.cores * rows) rows /= 2;
    return rows;
}

// Elements of a plane after which the column and the place in a block of floats are the same;
// several such periods, as long as they fit one repeat, so that fewer additions lead to it.
int64_t plane_period(const Shape& shape) {
    const int64_t least = std::lcm<int64_t>(shape.inner, 8);
    return least == shape.inner || least > 64 ? least : 64 / least * least;
}

// That fit, with room for parts of `unit` elements, at whose multiples copies begin.
int64_t most_rows(const Shape& shape, const device::Product& product, int64_t pitch,
                  int64_t unit = 0) {
    const int64_t wide = shape.in_size == 4 ? 0 : 4;  // of grad_output, until sums are there
    const int64_t element = shape.chunk_bytes(2) + wide;
    const int64_t fixed = (4 << 10) + tail_bytes(product) + unit * (2 * element + 8);
    const int64_t room = product.buffer_bytes - fixed;
    if (shape.inner > 1) {
        const int64_t sums = shape.inner % 8 == 0 ? 0 : plane_period(shape) * 4;
        return std::min((room - 7 * sums) / (pitch * element + sums), device::kMaxPieces);
    }
    return std::min(room / (pitch * element + 4 * (kLanes + 2)), device::kMaxPieces);
}

// Elements of a tile, with what its first and last units have of others where they are cut.
int64_t row_buffer(const SoftmaxBackwardTiling& t) {
    const int64_t elements = int64_t{t.tile} * t.pitch;
    for (const int64_t rows : {int64_t{t.tile}, int64_t{t.first}, t.items_per_group}) {
        if (t.pitch != t.length * t.inner || rows * t.pitch % t.unit == 0) continue;
        return round_up(t.unit - 1 + elements, std::max<int64_t>(t.unit, kLanes));
    }
    return round_up(elements, kLanes);
}

// Several rows, or planes, at a time, as they lie if as many of them fit as end with a block (any
// where the product stores bytes), else each from a block on. False where not even one fits.
bool tile_rows(const Shape& shape, const device::Product& product, SoftmaxBackwardTiling& t,
               uint32_t& blocks) {
    const int64_t row = shape.length * shape.inner;
    if (row > product.buffer_bytes) return false;
    const int64_t whole = rows_to_block(shape);
    const bool is_dense = most_rows(shape, product, row) >= (product.has_byte_copies ? 1 : whole);
    const int64_t pitch = is_dense ? row : round_up(row, kLanes);
    const int64_t most = most_rows(shape, product, pitch);
    if (most < 1) return false;
    t = basic_tiling(shape, kSoftmaxRows);
    t.period = static_cast<uint32_t>(plane_period(shape));
    t.items_per_group = rows_per_group(shape, product);
    t.groups = divide_up(t.items, t.items_per_group);
    blocks = static_cast<uint32_t>(best_blocks(t.groups, most_blocks(shape, product), product));
    const int64_t share = divide_up(t.groups, blocks) * t.items_per_group;
    const int64_t least_rows = divide_up(kMinRowTileBytes, row * shape.in_size);
    int64_t rows = std::min({std::max(divide_up(share, 4), least_rows), most, share});
    // As they lie, copies begin evenly where that leaves room for nearly as many rows, else at
    // blocks.
    const int64_t even = device::kEvenBytes / shape.least_size();
    const int64_t most_even = product.has_byte_copies ? most_rows(shape, product, pitch, even) : 0;
    const bool has_room = 4 * most_even >= 3 * rows;
    const int64_t fit = has_room ? most_even : most;
    rows = std::min(rows, fit);
    t.unit = static_cast<uint32_t>(has_room ? even : device::kBlockBytes / shape.least_size());
    // Vectors take eight rows at once; tiles end with blocks where products store no less.
    const bool at_once = shape.inner == 1 && whole >= kRowsAtOnce;
    const int64_t step = !product.has_byte_copies ? whole : at_once ? kRowsAtOnce : 1;
    if (is_dense && fit >= step) rows = std::min(round_up(rows, step), fit / step * step);
    // Rows that begin inside blocks take many instructions: a short tile, that is there soon,
    // first.
    const bool uneven = product.has_byte_copies && pitch % 8 != 0;
    const int64_t first = uneven ? round_up(divide_up(rows, 2), step) : rows;
    t.tile = static_cast<uint32_t>(rows);
    t.first = static_cast<uint32_t>(std::min(first, rows));
    t.pitch = static_cast<uint32_t>(pitch);
    t.buffer = static_cast<uint32_t>(row_buffer(t));
    return true;
}

// Planes that fit as a whole: several small ones take hardly more instructions for their sums than
// one, and as strips, that have no room for floats, inputs of 16 bits would be converted twice.
bool tile_planes(const Shape& shape, const device::Product& product, SoftmaxBackwardTiling& t,
                 uint32_t& blocks) {
    const int64_t period = plane_period(shape), plane = shape.length * shape.inner;
    if (!product.has_byte_copies || shape.inner == 1 || shape.length == 1) return false;
    // Of a few, each has several cores.
    if (2 * shape.outer < most_blocks(shape, product)) return false;
    if (period != shape.inner && (plane < period + 7 || period > kLongestPeriod)) return false;
    return tile_rows(shape, product, t, blocks);
}

}  // namespace

bool tile(const Shape& shape, const device::Product& product, SoftmaxBackwardTiling& t,
          uint32_t& blocks) {
    // Products that store bytes work on rows wherever they begin.
    const int64_t least_row = product.has_byte_copies ? 30 : 128;
    const bool is_short = shape.inner > 1 || shape.length < least_row;
    if (is_short && tile_lanes(shape, product, t, blocks)) return true;
    if (tile_planes(shape, product, t, blocks)) return true;
    if (shape.inner == 1 && shape.length > 1 && tile_rows(shape, product, t, blocks)) return true;
    return tile_strips(shape, product, t, blocks);
}

}  // namespace ascend_grad::softmax_backward
