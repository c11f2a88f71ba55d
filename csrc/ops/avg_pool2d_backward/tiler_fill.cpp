// The tiling where one window covers whole planes: stretches of grad_input, whatever planes they
// hold.
#include <algorithm>

#include "core/integers.h"
#include "ops/avg_pool2d_backward/tiler.h"

namespace ascend_grad {
namespace {

constexpr int64_t kBlockWords = 16;  // of 16 bits
constexpr int64_t kRepeatBlocks = 8;

// Instructions of Spread::units() in kernels_ascendc/avg_pool2d_backward/spread.h.
int64_t unit_instructions(int64_t plane, int64_t unit, int64_t step) {
    const auto block_of = [&](int64_t i) { return i * plane / kBlockWords; };
    int64_t count = 0;
    for (int64_t first = 0; first < step; ++first) {
        for (int64_t i = first, planes; i < unit; i += planes * step) {
            const int64_t apart = block_of(i + step) - block_of(i);
            int64_t words = i * plane % kBlockWords + plane;
            for (planes = 1; planes < kRepeatBlocks && i + planes * step < unit; ++planes) {
                const int64_t next = i + planes * step;
                if (block_of(next) != block_of(i) + planes * apart) break;
                words = std::max(words, next * plane % kBlockWords + plane);
            }
            count += divide_up(words, kBlockWords);
        }
    }
    return count;
}

struct Unit {
    int64_t planes, step;
};

// What takes the least time for a small tile, of planes of so many words: single ones, or units.
Unit fastest_unit(int64_t plane) {
    constexpr int64_t kInstruction = 14, kPlanes = 64;  // cycles, of a tile
    int64_t alike = 1;  // planes begin alike in blocks that many apart
    while (alike * plane % kBlockWords != 0) alike *= 2;
    const auto cycles = [&](int64_t instructions, int64_t planes) {
        return instructions * (kInstruction + kPlanes / planes);
    };
    const int64_t pieces = divide_up(plane + kBlockWords - 1, kBlockWords * kRepeatBlocks);
    Unit best{1, 1};
    int64_t least = cycles(alike * pieces, alike);
    for (int64_t planes = alike; planes <= kPlanes / 2 && planes * plane <= 2048; planes *= 2) {
        for (int64_t step = 1; step < planes; step *= 2) {
            if (step * plane < kBlockWords) continue;  // two planes of a copy in one block
            const int64_t count = cycles(unit_instructions(plane, planes, step), planes);
            if (count < least) best = {planes, step};
            least = std::min(least, count);
        }
    }
    return best;
}

}  // namespace

bool PoolTiler::choose_fill() {
    constexpr int64_t kLeastTile = 16 << 10, kFirstTile = 5 << 10;  // bytes
    const int64_t plane = t_.height * t_.width;
    if (plane > product_.buffer_bytes) return false;
    const int64_t words = plane * bytes_ / 2;
    // Many planes in a block are better taken as lanes.
    if (words < 4) return false;
    const Unit unit = fastest_unit(words);
    // Of a plane: loads, its quotient as a float or rounded from one, and a row of sixteen.
    const bool has_halves = bytes_ == 4 && product_.arch == 100;  // transposes floats by these
    int64_t window =
        kPoolFillLoads * bytes_ + (bytes_ == 2 ? 4 : 0) + kLanes * (has_halves ? 8 : bytes_);
    if (plan_.mode == AvgPool2dBackward::Mode::kFloat16) window += 2;
    // Windows around those of a tile, without those that bring a load's begin to 512 bytes.
    const int64_t more = 2 * unit.planes + 2 * kLanes;
    int64_t left = product_.buffer_bytes - 512 - window * (more + even());
    if (plan_.mode == AvgPool2dBackward::Mode::kHf32) left -= kHf32Bytes;
    for (uint32_t buffers : {2u, 1u}) {
        const int64_t tile = left * plane / (buffers * bytes_ * plane + window) / kLanes * kLanes;
        if ((tile - 2 * unit.planes * plane) * bytes_ < kLeastTile) continue;
        t_.traversal = kPoolFill;
        t_.store_buffers = buffers;
        t_.unit_planes = unit.planes;
        t_.unit_step = static_cast<uint32_t>(unit.step);
        t_.units = divide_up(t_.planes * plane, even());
        t_.first_load = static_cast<uint32_t>(kFirstTile / bytes_);
        t_.load_elements = static_cast<uint32_t>((tile / plane + more) / kLanes * kLanes + even());
        t_.tile_elements = static_cast<uint32_t>(tile);
        t_.tile_positions = static_cast<uint32_t>((tile / plane + more) / kLanes * kLanes);
        return true;
    }
    return false;
}

}  // namespace ascend_grad
