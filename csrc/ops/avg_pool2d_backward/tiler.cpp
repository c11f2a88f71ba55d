#include "ops/avg_pool2d_backward/tiler.h"

#include <algorithm>
#include <cmath>

#include "core/integers.h"

namespace ascend_grad {

PoolTiler::PoolTiler(const AvgPool2dBackward::Plan& plan, AvgPool2dBackwardTiling& tiling,
                     int64_t element_bytes, const device::Product& product)
    : plan_(plan), t_(tiling), bytes_(element_bytes), product_(product), best_cycles_(HUGE_VAL) {
    const int64_t elements = t_.height * t_.width + t_.grad_height * t_.grad_width;
    useful_cores_ = std::min<int64_t>(
        product.cores, divide_up(t_.planes * elements * bytes_, device::kLeastCoreBytes));
}

uint32_t PoolTiler::blocks() const {
    return static_cast<uint32_t>(std::min(useful_cores_, t_.units));
}

double PoolTiler::choose() {
    const PoolAxis &height = plan_.height, &width = plan_.width;
    if (height.lies_in_one_window() && width.lies_in_one_window() && choose_fill()) return 0;
    for (int64_t count : {1, 2, 4, 8, 16, 24, 32, 48, 64}) {
        for (uint32_t buffers : {1u, 2u})
            consider({kPoolPlanes, count, 0, height.extent, width.extent, buffers});
    }
    const auto consider_loads = [&](int64_t load) {
        for_each_height(divide_up(load, t_.grad_width) * height.stride, [&](int64_t rows) {
            for (uint32_t buffers : {1u, 2u})
                consider({kPoolRows, 1, load, rows, width.extent, buffers});
        });
    };
    for (int64_t lines : {1, 2, 3, 4, 6, 8, 12, 16, 24}) consider_loads(lines * even());
    consider_tall();
    // Where those complete too many rows.
    for (int64_t load = even() / 2; best_cycles_ == HUGE_VAL && load >= kLanes; load /= 2)
        consider_loads(load);
    // Rows of few planes, where stretches of them are long enough to be lanes.
    const bool is_wide = width.extent >= 128 && width.stride <= 64 && width.pad <= 512;
    for (int64_t rows : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32}) {
        if (!product_.has_byte_copies || !is_wide || rows > height.windows) break;
        for_each_height(rows * height.stride, [&](int64_t tile_rows) {
            for (uint32_t buffers : {1u, 2u})
                consider({kPoolColumns, 1, rows, tile_rows, width.extent, buffers});
        });
    }
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
    return best_cycles_;
}

void PoolTiler::consider(Choice c) {
    if (c.traversal == kPoolRows && !c.dense && has_alike_rows()) {
        c.dense = true;
        consider(c);
        // With many rows tiles have less room beside the windows that wait.
        if (plan_.height.kernel <= 5 || is_tall(c)) return;
        c.dense = false;
    }
    consider_unit(c);
    // Where cores may meet anywhere, they share few rows of windows more evenly inside these.
    const int64_t whole = t_.unit_height, shares = divide_up(t_.units, useful_cores_);
    const bool has_units = (c.traversal == kPoolRows && !is_tall(c)) || c.traversal == kPoolColumns;
    const bool is_uneven = 100 * shares * useful_cores_ > 101 * t_.units;
    if (!has_units || !is_uneven || !product_.has_byte_copies) return;
    for (c.unit = 1; c.unit <= 8 && c.unit < whole; c.unit *= 2) consider_unit(c);
}

// With all lanes, or as many as share the planes evenly among as many groups.
void PoolTiler::consider_unit(Choice c) {
    consider_lanes(c);
    const bool may_have_fewer = c.traversal == kPoolRows ? !is_tall(c) : c.traversal == kPoolParts;
    c.lanes = divide_up(t_.planes, divide_up(t_.planes, kLanes));
    if (may_have_fewer && c.lanes < kLanes && product_.has_byte_copies) consider_lanes(c);
}

void PoolTiler::consider_lanes(const Choice& c) {
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

// A core's planes as sixteen tall ones, where rows of windows of these lie as those of each.
void PoolTiler::consider_tall() {
    constexpr int64_t kMostPlanes = 4096;
    const PoolAxis& height = plan_.height;
    const int64_t planes = divide_up(divide_up(t_.planes, useful_cores_), kLanes);
    const bool alike = t_.grad_height == height.extent && height.windows == height.extent &&
                       height.kernel == 2 * height.pad + 1 && height.kernel <= height.extent;
    const bool divides = has_one_divisor() || t_.grad_height * t_.grad_width <= kMostDivisors;
    if (!alike || !divides || !has_alike_rows() || !product_.has_byte_copies) return;
    for (int64_t tile_planes : {1, 2, 3, 4, 6, 8, 12, 16}) {
        if (tile_planes > planes) break;
        for (int64_t lines : {1, 2, 3, 4, 6, 8}) {
            for (uint32_t buffers : {1u, 2u})
                consider({kPoolRows, std::min(planes, kMostPlanes), lines * even(),
                          tile_planes * height.extent, plan_.width.extent, buffers});
        }
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

}  // namespace ascend_grad
