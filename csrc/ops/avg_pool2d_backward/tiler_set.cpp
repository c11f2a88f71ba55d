// What a choice of the size of loads and tiles means: the tiling's units and buffers.
#include <algorithm>

#include "core/integers.h"
#include "ops/avg_pool2d_backward/tiler.h"

namespace ascend_grad {
namespace {

// Windows that cover one element, at most.
int64_t cover(const PoolAxis& axis) {
    const int64_t last = (axis.extent - 1 + axis.pad) / axis.stride;
    return std::min((axis.kernel - 1) / axis.stride, last) + 1;
}

// Windows whose begin lies among `size` neighbouring elements of a tile, at most.
int64_t begins(const PoolAxis& axis, int64_t size) {
    if (size >= axis.extent)
        return (axis.extent - 1 + axis.pad) / axis.stride - axis.pad / axis.stride + 1;
    return size % axis.stride == 0 ? size / axis.stride : (size - 1) / axis.stride + 2;
}

// Too much is more than any buffer holds.
uint32_t to_u32(int64_t value) {
    return static_cast<uint32_t>(std::min<int64_t>(value, 1 << 28));
}

}  // namespace

bool PoolTiler::has_alike_rows() const {
    const PoolAxis &height = plan_.height, &width = plan_.width;
    const bool alike = t_.grad_width == width.extent && width.windows == width.extent;
    return alike && height.stride == 1 && width.stride == 1 && width.kernel == 2 * width.pad + 1 &&
           width.pad > 0 && width.kernel <= width.extent;
}

// So that cores meet between windows, and where stores begin with a block.
int64_t PoolTiler::unit_height(const Choice& c) const {
    const PoolAxis& height = plan_.height;
    if (c.traversal == kPoolDirect) return c.height;
    if (c.unit > 0) return std::min(c.unit, height.extent);
    if (c.traversal == kPoolPlanes || is_tall(c)) return height.extent;
    if (height.stride > 16) return std::min<int64_t>(height.extent, 8);
    int64_t rows = height.stride;
    while (rows * plan_.width.extent * bytes_ % device::kBlockBytes != 0 &&
           rows < 4 * height.stride)
        rows += height.stride;
    return std::min(rows, height.extent);
}

void PoolTiler::set(const Choice& c) {
    const PoolAxis &height = plan_.height, &width = plan_.width;
    t_.traversal = c.traversal;
    t_.lane_planes = c.lane_planes;
    t_.lanes = c.lanes;
    t_.tile_height = c.height;
    t_.tile_width = c.width;
    t_.unit_height = unit_height(c);
    const auto phase = [](const PoolAxis& axis, int64_t size) {
        return size < axis.extent && size % axis.stride == 0 ? axis.pad % axis.stride : 0;
    };
    t_.phase_height = phase(height, t_.unit_height);
    t_.phase_width = phase(width, c.width);
    t_.tiles_height = divide_up(height.extent + t_.phase_height, t_.unit_height);
    t_.tiles_width = divide_up(width.extent + t_.phase_width, c.width);
    t_.cover_height = to_u32(cover(height));
    t_.cover_width = to_u32(cover(width));
    t_.store_buffers = c.store_buffers;
    const int64_t tiles = t_.tiles_height * t_.tiles_width;
    // Cores meet where both sides of the border are whole blocks of 32 bytes; or whole lines of 64,
    // where there are rows of less than a block, which the scalar unit stores.
    const bool splits = product_.has_byte_copies;
    t_.unit_tiles = splits ? 1 : tiles;
    t_.unit_planes = splits ? 1 : c.lane_planes;
    const bool is_plane = c.traversal == kPoolColumns || is_tall(c);
    const int64_t group = (is_plane ? 1 : c.lanes) * t_.unit_planes;
    const bool is_narrow = t_.tiles_width > 1 || width.extent * bytes_ < device::kBlockBytes;
    const bool has_lines = group * height.extent * width.extent * bytes_ % 64 == 0;
    if (!splits && c.traversal != kPoolPlanes && is_narrow && !has_lines) t_.unit_tiles *= 2;
    t_.units = divide_up(divide_up(t_.planes, group) * tiles, t_.unit_tiles);
    set_buffers(c);
    const uint32_t before = t_.tile_positions;
    t_.tile_positions = std::max(before, to_u32(pairs_begin() + pair_positions()));
    if (!fits()) t_.tile_positions = before;
}

void PoolTiler::set_buffers(const Choice& c) {
    const auto rounded = [](int64_t elements) { return round_up(elements, kLanes); };
    const PoolAxis &height = plan_.height, &width = plan_.width;
    const int64_t planes = is_tall(c) ? 1 : c.lane_planes, plane = t_.grad_height * t_.grad_width;
    const bool is_direct = c.traversal == kPoolDirect;
    const bool has_whole_rows = c.width >= width.extent;
    // What may wait for the tile below, so that stores end at 512 bytes.
    const int64_t held = c.traversal == kPoolRows || (is_direct && has_whole_rows) ? even() : 0;
    int64_t pitch = has_whole_rows ? width.extent : rounded(c.width);
    int64_t margin = is_direct ? 0 : cover(width);
    int64_t columns = t_.windows_width, load = planes * plane, waiting = 0;
    int64_t sum_rows = begins(height, height.extent) + cover(height) - 1;
    if (c.traversal == kPoolRows) {
        load = std::min(c.load, plane * c.lane_planes);
        waiting = t_.grad_width;
        sum_rows = std::min(sum_rows, cover(height) - 1 + divide_up(load, t_.grad_width));
    } else if (c.traversal == kPoolParts) {
        columns = begins(width, c.width) + cover(width) - 1;
        load = c.load * rounded(columns);
        sum_rows = cover(height) - 1 + c.load;
    } else if (c.traversal == kPoolColumns) {
        set_columns();
        columns = t_.lane_pitch;
        load = c.load * std::max<int64_t>(columns, divide_up(t_.row_elements, kLanes));
        sum_rows = cover(height) - 1 + c.load;
        pitch = columns * width.stride;
        margin += t_.windows_before + width.pad / width.stride + 2;
    } else if (is_direct) {
        columns = load = c.load;
    }
    const int64_t tile = rounded(held + planes * c.height * pitch);
    // 16-bit lanes are half as long.
    const int64_t narrow = bytes_ == 2 ? divide_up(rounded(load), 2) : 0;
    int64_t begin = held, wide = tile;
    if (bytes_ == 2) {
        begin = held > 0 ? held / 2 + kLanes : 0;
        wide = begin + tile - held + (held > 0 ? kLanes : 0);
    }
    if (c.traversal != kPoolColumns)
        t_.lane_windows = t_.windows_before = t_.lane_pitch = t_.row_elements = 0;
    t_.load_rows = c.load;
    t_.sum_rows = to_u32(is_direct ? 0 : sum_rows);
    t_.divisor_columns = to_u32(columns);
    t_.load_elements = to_u32(rounded(load));
    t_.first_load = to_u32(std::min(rounded(load), (is_tall(c) ? 1 : 2) * even()));
    t_.tile_elements = to_u32(tile);
    t_.margin = to_u32(margin);
    // Loads are widened in whole steps of kLanes positions.
    t_.grad_positions = to_u32(rounded(2 * margin + waiting + load + kLanes));
    t_.tile_begin = to_u32(begin);
    t_.scratch = to_u32(is_direct ? wide : begin);
    const bool has_rows_between =
        sum_rows != t_.grad_height || height.extent != t_.grad_height * height.stride;
    const bool goes_apart = c.traversal == kPoolPlanes && planes > 1 && has_rows_between;
    t_.apart_end = to_u32(goes_apart ? begin + planes * t_.grad_height * pitch : 0);
    wide = std::max<int64_t>(wide, t_.apart_end);
    t_.tile_positions = to_u32(std::max(wide, t_.scratch + narrow));
    t_.tile_pitch = to_u32(pitch);
    t_.dense = c.dense;
    // Of small planes, as many as make an instruction long.
    const bool has_planes = is_tall(c) || c.traversal == kPoolPlanes;
    const bool alike = t_.windows_height == t_.grad_height && t_.windows_width == t_.grad_width &&
                       plane <= kMostDivisors;
    const bool holds_planes = has_planes && alike && !has_one_divisor();
    t_.divisor_planes =
        holds_planes ? to_u32(std::min(c.lane_planes, divide_up(int64_t{128}, plane))) : 0;
    if (t_.dense != 0) set_dense(c, wide);
}

// Lanes begin with blocks of a load's rows.
void PoolTiler::set_columns() {
    const PoolAxis& width = plan_.width;
    const int64_t block = device::kBlockBytes / bytes_;
    const auto blocks = [&](int64_t windows) { return round_up(windows, block); };
    const int64_t windows = blocks(divide_up(divide_up(width.extent, width.stride), kLanes));
    const int64_t before =
        blocks(std::max<int64_t>(0, cover(width) - 1 - width.pad / width.stride));
    const int64_t pitch =
        blocks(before + (windows * width.stride - 1 + width.pad) / width.stride + 1);
    t_.lane_windows = to_u32(windows);
    t_.windows_before = to_u32(before);
    t_.lane_pitch = to_u32(pitch);
    t_.row_elements =
        to_u32(std::max(before + blocks(width.windows), (kLanes - 1) * windows + pitch));
}

// As kernels_ascendc/avg_pool2d_backward/dense.h uses them; `wide`: positions up to a tile's end.
void PoolTiler::set_dense(const Choice& c, int64_t wide) {
    const PoolAxis &height = plan_.height, &width = plan_.width;
    const int64_t row = width.extent;
    // Rows of windows that wait, of tall lanes for whole planes.
    const int64_t waiting = (cover(height) + (is_tall(c) ? height.extent : 0)) * row;
    // Sums of some rows are made of those of half as many, which are as many rows longer.
    int64_t longer = 0;
    for (int64_t half = cover(height) / 2; half > 1; half /= 2) longer += half * row;
    t_.sum_rows = 0;
    // With windows that nothing needs any more as long as a tile: what its sums over columns are
    // longer, or the transposition's last step.
    t_.margin = to_u32(width.kernel + kLanes);
    t_.grad_positions = to_u32(t_.margin + waiting + round_up(t_.load_elements + 1, kLanes));
    const int64_t behind = width.pad + std::max(longer, width.pad) + kPoolRepeatPositions;
    t_.tile_positions = std::max(t_.tile_positions, to_u32(wide + round_up(behind, kLanes)));
}

// Where many windows of a row are added as sums of two: positions for those of half the rows.
int64_t PoolTiler::pair_positions() const {
    const bool has_rows = t_.traversal == kPoolRows || t_.traversal == kPoolPlanes;
    if (!has_rows || t_.dense != 0 || t_.cover_width < 4) return 0;
    int64_t rows = divide_up(t_.load_elements, t_.grad_width) + 1;
    if (t_.traversal == kPoolPlanes) rows = t_.lane_planes * t_.grad_height;
    return divide_up(rows, 2) * t_.grad_width + t_.cover_width;
}

bool PoolTiler::fits() const {
    constexpr double kPosition = kLanes * sizeof(float);
    const double load = t_.load_elements, tile = t_.tile_elements;
    const double positions = std::max(t_.tile_positions, t_.load_elements);
    double bytes = kLanes * static_cast<double>(bytes_) * (2 * load + t_.store_buffers * tile);
    bytes += kPosition * (static_cast<double>(t_.grad_positions) + t_.tile_positions);
    bytes += kPosition * static_cast<double>(t_.lane_planes) * t_.sum_rows * t_.tile_pitch;
    if (plan_.mode == AvgPool2dBackward::Mode::kFloat16) bytes += kPosition / 2 * positions;
    if (plan_.mode == AvgPool2dBackward::Mode::kHf32) bytes += kHf32Bytes;
    if (bytes_ == 4 && product_.arch == 100) bytes += kPosition * positions;
    const double divisors = std::max<double>(
        t_.divisor_columns, static_cast<double>(t_.divisor_planes) *
                                static_cast<double>(t_.grad_height * t_.grad_width));
    if (t_.factor == 0.0f)
        bytes +=
            t_.divisor != 0.0f ? 4 * kPosition : kPosition * (divisors + t_.divisor_columns + 4);
    if (t_.traversal == kPoolDirect) bytes += kPosition * static_cast<double>(t_.tile_width);
    // Additions borrow nothing.
    const bool borrows = t_.dense == 0 || plan_.mode == AvgPool2dBackward::Mode::kHf32;
    return bytes + 64 <=
           static_cast<double>(product_.buffer_bytes + (borrows ? 0 : product_.borrowed_bytes));
}

}  // namespace ascend_grad
