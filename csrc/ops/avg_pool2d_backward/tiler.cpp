#include "ops/avg_pool2d_backward/tiler.h"

#include <algorithm>
#include <cmath>

#include "core/integers.h"

namespace ascend_grad {
namespace {

constexpr int64_t kLeastCoreBytes = 16 << 10;  // that pay for starting another core
constexpr uint32_t kBorrowed = 8 << 10;        // bytes at the unified buffer's end

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

// Whether rows of windows and of gradients lie alike, and few overlap: kernels of 3 or 5 columns.
bool is_dense(const AvgPool2dBackward::Plan& plan, int64_t grad_width) {
    const PoolAxis &height = plan.height, &width = plan.width;
    const bool alike = grad_width == width.extent && width.windows == width.extent;
    return alike && height.stride == 1 && width.stride == 1 && height.kernel <= 5 &&
           width.kernel == 2 * width.pad + 1 && width.pad > 0 && width.pad <= 2 &&
           width.kernel <= width.extent;
}

bool covers_all(const PoolAxis& axis) {
    return axis.windows == 1 && axis.kernel - axis.pad >= axis.extent;
}

// Too much is more than any buffer holds.
uint32_t to_u32(int64_t value) {
    return static_cast<uint32_t>(std::min<int64_t>(value, 1 << 28));
}

}  // namespace

PoolTiler::PoolTiler(const AvgPool2dBackward::Plan& plan, AvgPool2dBackwardTiling& tiling,
                     int64_t element_bytes, const device::Product& product)
    : plan_(plan), t_(tiling), bytes_(element_bytes), product_(product), best_cycles_(HUGE_VAL) {
    const int64_t elements = t_.height * t_.width + t_.grad_height * t_.grad_width;
    useful_cores_ =
        std::min<int64_t>(product.cores, divide_up(t_.planes * elements * bytes_, kLeastCoreBytes));
}

uint32_t PoolTiler::blocks() const {
    return static_cast<uint32_t>(std::min(useful_cores_, t_.units));
}

void PoolTiler::choose() {
    const PoolAxis &height = plan_.height, &width = plan_.width;
    const auto planes = covers_all(height) && covers_all(width) ? kPoolFill : kPoolPlanes;
    for (int64_t count : {1, 2, 4, 8, 16, 24, 32, 48, 64}) {
        for (uint32_t buffers : {1u, 2u})
            consider({planes, count, 0, height.extent, width.extent, buffers});
    }
    const auto consider_loads = [&](int64_t load) {
        for_each_height(divide_up(load, t_.grad_width) * height.stride, [&](int64_t rows) {
            for (uint32_t buffers : {1u, 2u})
                consider({kPoolRows, 1, load, rows, width.extent, buffers});
        });
    };
    for (int64_t lines : {1, 2, 3, 4, 6, 8, 12, 16, 24}) consider_loads(lines * even());
    // Where those complete too many rows.
    for (int64_t load = even() / 2; best_cycles_ == HUGE_VAL && load >= kLanes; load /= 2)
        consider_loads(load);
    for (int64_t columns = width.extent; best_cycles_ == HUGE_VAL && columns > 1;) {
        columns = narrower(columns);
        for (int64_t load : {1, 2, 4, 8, 16}) {
            for_each_height(load * height.stride, [&](int64_t rows) {
                consider({kPoolParts, 1, load, rows, columns, 1});
            });
        }
    }
    if (best_cycles_ == HUGE_VAL) choose_direct();
    set(best_);
}

void PoolTiler::consider(const Choice& c) {
    const int64_t plane = plan_.height.extent * plan_.width.extent;
    if (c.lane_planes > 1 && plane > 1 << 14) return;
    // Without DataCopyPad a store of less than a block is made by the scalar unit.
    const bool is_tiny = !product_.has_byte_copies && plane * bytes_ < 64;
    if (is_tiny && c.lane_planes % kLanes != 0) return;
    set(c);
    if (!fits()) return;
    const double cost = cycles(c);
    if (cost < best_cycles_) {
        best_cycles_ = cost;
        best_ = c;
    }
}

void PoolTiler::choose_direct() {
    best_ = {kPoolDirect,
             1,
             kDirectColumns,
             std::min<int64_t>(plan_.height.extent, 16),
             std::min<int64_t>(plan_.width.extent, 64),
             1};
    for (set(best_); !fits() && best_.height * best_.width > 1; set(best_)) {
        int64_t& side = best_.height > 1 ? best_.height : best_.width;
        side = divide_up(side, 2);
    }
}

// Parts of the rows that a load may complete.
template <class Consider>
void PoolTiler::for_each_height(int64_t rows, const Consider& consider_rows) const {
    int64_t last = 0;
    for (int64_t parts : {1, 2, 3, 4, 6, 8, 16, 32, 64, 256, 1024}) {
        const int64_t height = divide_up(std::min(rows, plan_.height.extent), parts);
        if (height != last) consider_rows(height);
        last = height;
    }
}

int64_t PoolTiler::narrower(int64_t columns) const {
    const int64_t half = divide_up(columns, 2);
    const int64_t rounded = round_up(half, plan_.width.stride);
    return rounded < columns ? rounded : half;
}

// So that cores meet between windows, and where stores begin with a block.
int64_t PoolTiler::unit_height(const Choice& c) const {
    const PoolAxis& height = plan_.height;
    if (c.traversal == kPoolDirect) return c.height;
    if (c.traversal != kPoolRows && c.traversal != kPoolParts) return height.extent;
    if (height.stride > 16) return std::min<int64_t>(height.extent, 8);
    int64_t rows = height.stride;
    while (rows * plan_.width.extent * bytes_ % 32 != 0 && rows < 4 * height.stride)
        rows += height.stride;
    return std::min(rows, height.extent);
}

void PoolTiler::set(const Choice& c) {
    const PoolAxis &height = plan_.height, &width = plan_.width;
    t_.traversal = c.traversal;
    t_.lane_planes = c.lane_planes;
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
    // Cores meet where both sides of the border are whole blocks of 32 bytes.
    const bool splits = product_.has_byte_copies;
    t_.unit_tiles = splits ? 1 : tiles;
    t_.unit_planes = splits ? 1 : c.lane_planes;
    t_.units = divide_up(t_.planes, kLanes * t_.unit_planes) * tiles / t_.unit_tiles;
    set_buffers(c);
    const uint32_t before = t_.tile_positions;
    t_.tile_positions = std::max(before, to_u32(t_.scratch + pair_positions()));
    if (!fits()) t_.tile_positions = before;
}

void PoolTiler::set_buffers(const Choice& c) {
    const auto rounded = [](int64_t elements) { return round_up(elements, kLanes); };
    const PoolAxis &height = plan_.height, &width = plan_.width;
    const int64_t planes = c.lane_planes, plane = t_.grad_height * t_.grad_width;
    const bool is_direct = c.traversal == kPoolDirect, is_fill = c.traversal == kPoolFill;
    const bool has_whole_rows = c.width >= width.extent;
    // What may wait for the tile below, so that stores end at 512 bytes.
    const int64_t held = c.traversal == kPoolRows || (is_direct && has_whole_rows) ? even() : 0;
    const int64_t pitch = has_whole_rows ? width.extent : rounded(c.width);
    int64_t margin = is_direct || is_fill ? 0 : cover(width);
    int64_t columns = t_.windows_width, load = planes * plane, waiting = 0;
    int64_t sum_rows = begins(height, height.extent) + cover(height) - 1;
    if (c.traversal == kPoolRows) {
        load = std::min(c.load, plane);
        waiting = t_.grad_width;
        sum_rows = std::min(sum_rows, cover(height) - 1 + divide_up(load, t_.grad_width));
    } else if (c.traversal == kPoolParts) {
        columns = begins(width, c.width) + cover(width) - 1;
        load = c.load * rounded(columns);
        sum_rows = cover(height) - 1 + c.load;
    } else if (is_direct) {
        columns = load = c.load;
    }
    const int64_t tile = rounded(held + planes * c.height * pitch);
    // 16-bit lanes are half as long.
    const int64_t narrow = bytes_ == 2 ? divide_up(rounded(load), 2) : 0;
    int64_t begin = held, wide = tile;
    if (bytes_ == 2) {
        begin = held > 0 ? held / 2 + kLanes : 0;
        wide = is_fill ? tile / 2 : begin + tile - held + (held > 0 ? kLanes : 0);
    }
    t_.load_rows = c.load;
    t_.sum_rows = to_u32(is_direct || is_fill ? 0 : sum_rows);
    t_.divisor_columns = to_u32(columns);
    t_.load_elements = to_u32(rounded(load));
    t_.first_load = to_u32(std::min(rounded(load), 2 * even()));
    t_.tile_elements = to_u32(tile);
    t_.margin = to_u32(margin);
    t_.grad_positions = to_u32(rounded(2 * margin + waiting + load + kLanes));
    t_.tile_begin = to_u32(begin);
    t_.scratch = to_u32(is_direct ? wide : begin);
    t_.tile_positions = to_u32(std::max(wide, t_.scratch + narrow));
    t_.tile_pitch = to_u32(pitch);
    t_.dense = c.traversal == kPoolRows && is_dense(plan_, t_.grad_width);
    if (t_.dense == 0) return;
    // As kernels_ascendc/avg_pool2d_backward/dense.h uses them.
    const int64_t lead = 4 - width.pad;
    margin = width.kernel + 2 * width.pad * c.height;
    waiting += (cover(height) - 1) * pitch;
    wide += rounded(lead + (cover(height) < 4 ? 0 : 2) * pitch + width.kernel);
    t_.lead = to_u32(lead);
    t_.sum_rows = 0;
    t_.margin = to_u32(margin);
    t_.grad_positions = to_u32(rounded(margin + waiting + load + kLanes));
    t_.tile_positions = to_u32(std::max(wide, t_.scratch + narrow));
}

// Where many windows of a row are added as sums of two: positions for those of half the rows.
int64_t PoolTiler::pair_positions() const {
    if (t_.traversal != kPoolRows || t_.dense != 0 || t_.cover_width < 4) return 0;
    const int64_t rows = divide_up(t_.load_elements, t_.grad_width) + 1;
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
    if (plan_.mode == AvgPool2dBackward::Mode::kHf32) bytes += 8320;
    if (bytes_ == 4 && product_.arch == 100) bytes += kPosition * positions;
    if (t_.factor == 0.0f)
        bytes += t_.divisor != 0.0f ? 4 * kPosition : 3 * kPosition * t_.divisor_columns;
    if (t_.traversal == kPoolDirect) bytes += kPosition * static_cast<double>(t_.tile_width);
    // Additions borrow nothing.
    const bool borrows = t_.dense == 0 || plan_.mode == AvgPool2dBackward::Mode::kHf32;
    return bytes + 64 <= static_cast<double>(product_.buffer_bytes + (borrows ? 0 : kBorrowed));
}

}  // namespace ascend_grad
