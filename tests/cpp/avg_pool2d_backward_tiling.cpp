// Properties of AvgPool2dBackward's tiling: every element is in one unit of one core, buffers fit
// and hold what a load and a tile need, cores are as many as pay, even, and meet where blocks do.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "device/product.h"
#include "hard_pool.h"
#include "ops/avg_pool2d_backward/op.h"
#include "ops/avg_pool2d_backward/tiling.h"

using namespace ascend_grad;
using Op = AvgPool2dBackward;

namespace {

int64_t divide_up(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}
int64_t round_up(int64_t a, int64_t b) {
    return divide_up(a, b) * b;
}

int64_t dense_tilings = 0, tall_tilings = 0, split_tilings = 0, fill_tilings = 0,
        column_tilings = 0, apart_tilings = 0, fewer_lanes = 0;

struct Case {
    int64_t planes, height, width, element_bytes;
    device::Product product;
    AvgPool2dBackwardTiling t;
    int64_t blocks;

    void require(bool condition, const char* what) const {
        if (condition) return;
        std::fprintf(
            stderr,
            "%s\n  %lld planes of %lld x %lld, kernel %lld x %lld, stride %lld x %lld, pad %lld x "
            "%lld, %lld bytes, arch %d, %u cores: traversal %u, %lld blocks, %lld units, %lld lane "
            "planes, tile %lld x %lld\n",
            what, (long long)planes, (long long)height, (long long)width,
            (long long)t.kernel_height, (long long)t.kernel_width, (long long)t.stride_height,
            (long long)t.stride_width, (long long)t.pad_height, (long long)t.pad_width,
            (long long)element_bytes, product.arch, product.cores, t.traversal, (long long)blocks,
            (long long)t.units, (long long)t.lane_planes, (long long)t.tile_height,
            (long long)t.tile_width);
        std::exit(1);
    }

    bool is(AvgPool2dBackwardTraversal traversal) const { return t.traversal == traversal; }
    bool is_tall() const { return is(kPoolRows) && t.lane_planes > 1; }
    bool has_whole_rows() const { return t.tile_width >= width; }

    void check() {
        if (t.planes != planes) {
            // Rows of windows that are planes.
            require(t.pad_height == 0 && t.kernel_height <= t.stride_height, "planes that overlap");
            require(t.grad_height == 1 && t.height == t.stride_height, "rows of such planes");
            require(t.planes * t.height == planes * height, "rows without a plane");
            planes = t.planes;
            height = t.height;
            ++split_tilings;
        }
        require(t.height == height && t.width == width && t.planes == planes, "extents");
        check_balance();
        if (is(kPoolFill)) return check_fill();
        check_axis(height, t.unit_height, t.phase_height, t.tiles_height);
        check_axis(width, t.tile_width, t.phase_width, t.tiles_width);
        check_shares();
        check_loads();
        check_tiles();
        // Dense sums call nothing that borrows the buffer's end; rounding to HF32 does.
        const int64_t borrowed = t.dense != 0 && t.mode != kPoolHf32 ? product.borrowed_bytes : 0;
        require(bytes() <= static_cast<double>(product.buffer_bytes + borrowed), "unified buffer");
    }

    // Every tile and load gets on, and holds whole planes or units of them; blocks meet blocks.
    void check_fill() const {
        const int64_t plane = height * width, line = 512 / element_bytes, unit = t.unit_planes;
        require(t.grad_height * t.grad_width == 1, "more than a window");
        require(t.units == divide_up(planes * plane, line), "lines");
        require(unit == 1 || unit * plane * element_bytes % 32 == 0, "unit");
        require(t.first_load % line == 0 && t.first_load > 0, "first tile");
        require(t.tile_elements % 16 == 0 && t.tile_elements >= 2 * unit * plane + line, "tile");
        require(t.tile_positions >= t.tile_elements / plane + 2 * unit, "planes of a tile");
        require(t.tile_positions % 16 == 0 && t.load_elements % 16 == 0, "blocks of windows");
        require(t.load_elements >= t.tile_positions + line - 16, "load");
        double window = static_cast<double>(kPoolFillLoads * element_bytes);
        if (element_bytes == 2) window += 4;
        if (t.mode == kPoolFloat16) window += 2;
        double row = static_cast<double>(16 * element_bytes);
        if (element_bytes == 4 && product.arch == 100) row += 64;
        double sum = static_cast<double>(t.store_buffers * element_bytes) * t.tile_elements;
        sum += window * t.load_elements + row * t.tile_positions + 32;
        if (t.mode == kPoolHf32) sum += (4 * 512 + 16) * 4;
        if (t.factor == 0.0f) sum += 256;
        require(sum <= static_cast<double>(product.buffer_bytes), "unified buffer");
    }

    // Neighbouring units meet.
    void check_axis(int64_t extent, int64_t size, int64_t phase, int64_t count) const {
        const auto begin = [&](int64_t i) { return std::max<int64_t>(0, i * size - phase); };
        require(size >= 1 && phase >= 0 && phase < size, "units of an axis");
        require(count == 1 || begin(count - 1) < extent, "empty unit");
        require(count == 1 || begin(1) > 0, "empty first unit");
        require(count * size - phase >= extent, "elements without a unit");
    }

    int64_t first_unit(int64_t core) const { return core * t.units / blocks; }
    void check_balance() const {
        require(blocks >= 1 && blocks <= product.cores, "more blocks than cores");
        require(first_unit(0) == 0 && first_unit(blocks) == t.units, "units without a core");
        for (int64_t core = 0; core < blocks; ++core) {
            const int64_t units = first_unit(core + 1) - first_unit(core);
            require(units >= 1, "a core without work");
            require(units <= divide_up(t.units, blocks), "unbalanced by more than a unit");
        }
        const int64_t moved =
            planes * (height * width + t.grad_height * t.grad_width) * element_bytes;
        require(moved > 16 << 10 || blocks == 1, "several cores for little work");
    }
    void check_shares() const {
        const bool is_plane = is(kPoolColumns) || is_tall();
        const int64_t groups = divide_up(planes, (is_plane ? 1 : t.lanes) * t.unit_planes);
        const bool has_tiles = is(kPoolRows) || is(kPoolParts);
        require(t.lanes == 16 || (has_tiles && !is_plane && product.has_byte_copies), "lanes");
        require(is_plane || groups == divide_up(planes, 16 * t.unit_planes), "unused lanes");
        const int64_t tiles = t.tiles_height * t.tiles_width;
        require(t.units == divide_up(groups * tiles, t.unit_tiles), "tiles");
        require(t.lane_planes % t.unit_planes == 0, "planes of a run");
        require(!is_tall() || (t.unit_planes == 1 && tiles == 1), "units of tall lanes");
        if (product.has_byte_copies || blocks == 1) return;
        require(t.unit_tiles % tiles == 0, "cores meet within planes");
        const int64_t unit = t.unit_tiles / tiles * 16 * t.unit_planes;
        // Of less than a block the scalar unit stores a line.
        const bool has_short =
            !is(kPoolPlanes) && (t.tiles_width > 1 || width * element_bytes < 32);
        require(unit * height * width * element_bytes % (has_short ? 64 : 32) == 0,
                "shared block or line");
    }

    // Windows along an axis that cover one element, and that elements [begin, end) may have, at
    // most.
    static int64_t cover(int64_t extent, int64_t kernel, int64_t stride, int64_t pad) {
        return std::min((kernel - 1) / stride, (extent - 1 + pad) / stride) + 1;
    }
    int64_t cover_height() const {
        return cover(height, t.kernel_height, t.stride_height, t.pad_height);
    }
    int64_t cover_width() const {
        return cover(width, t.kernel_width, t.stride_width, t.pad_width);
    }

    void check_loads() const {
        if (is(kPoolDirect)) return require(t.load_elements >= t.divisor_columns, "windows");
        require(t.cover_height == cover_height() && t.cover_width == cover_width(), "cover");
        const int64_t plane = t.grad_height * t.grad_width;
        int64_t columns = t.windows_width, waiting = 0;
        // New rows of a load, beside those that older sums share with it.
        int64_t rows =
            (height - 1 + t.pad_height) / t.stride_height - t.pad_height / t.stride_height + 1;
        if (is(kPoolRows)) {
            const int64_t line = 512 / element_bytes;
            // A part of a line where a line completes more rows than there is space for.
            const int64_t load = t.load_elements;
            const bool is_part = line % load == 0 && load * element_bytes % 32 == 0;
            const int64_t lane = plane * t.lane_planes;
            require(load % line == 0 || is_part || load >= lane, "loads that do not end evenly");
            require(t.first_load <= load, "first load");
            require(t.first_load >= std::min({line, lane, load}), "first load does not get on");
            waiting = t.grad_width;
            rows = std::min(rows, divide_up(std::min<int64_t>(t.load_elements, plane), waiting));
        } else if (is(kPoolParts)) {
            // Windows that begin in the tile or reach into it.
            columns = (t.tile_width - 1) / t.stride_width + 2 + cover_width() - 1;
            if (t.tile_width % t.stride_width == 0) columns -= 1;
            rows = t.load_rows;
            require(rows >= 1 && rows * round_up(columns, 16) <= t.load_elements, "load of parts");
        } else if (is(kPoolColumns)) {
            columns = t.lane_pitch;
            rows = t.load_rows;
            require(rows >= 1 && rows * columns <= t.load_elements, "lanes of a load");
            require(rows * t.row_elements <= 16 * t.load_elements, "rows of a load");
            check_lanes();
        } else {
            require(t.lane_planes * plane <= t.load_elements, "load of planes");
            check_apart();
        }
        require(t.divisor_columns >= columns, "divisors");
        require(t.divisor_planes == 0 || is(kPoolPlanes) || is_tall(), "divisors of whole planes");
        require(t.divisor_planes == 0 || plane == t.windows_height * t.windows_width, "windows");
        if (t.dense != 0) {
            // With as many windows as a tile has elements, that nothing needs any more: its sums
            // over columns, as shorter ones begin and end, and a transposition's last step.
            require(t.margin >= t.kernel_width + 2 * kPoolRepeatPositions - 1, "sums of columns");
            require(t.margin >= 15, "transposition of a tile");
            waiting += (cover_height() - 1 + (is_tall() ? height : 0)) * width;
            if (is_tall()) check_tall();
            require(t.grad_positions >= t.margin + waiting + t.load_elements, "gradients");
            return;
        }
        require(t.grad_positions >= 2 * t.margin + waiting + t.load_elements, "gradients");
        require(t.margin >= cover_width(), "margin");
        require(t.sum_rows >= rows + cover_height() - 1, "rows of sums");
    }

    // Sums over columns of planes one below the other, where rows of zeros come between these.
    void check_apart() const {
        const bool is_one = t.lane_planes == 1 || (t.sum_rows == t.grad_height &&
                                                   height == t.grad_height * t.stride_height);
        require((t.apart_end == 0) == is_one, "planes that go apart");
        const int64_t sums = t.lane_planes * t.grad_height * t.tile_pitch;
        require(is_one || t.apart_end == t.tile_begin + sums, "sums of planes");
        require(t.apart_end <= t.tile_positions, "room for sums of planes");
    }

    // Planes one below the other.
    void check_tall() const {
        require(t.grad_height == height && t.windows_height == height, "rows of other planes");
        require(t.kernel_height == 2 * t.pad_height + 1 && t.kernel_height <= height, "windows");
        require(t.tile_height % height == 0, "part of a plane");
        require(16 * t.lane_planes * blocks >= std::min<int64_t>(planes, 48 * 16 * 4096), "runs");
        require(t.factor != 0.0f || t.divisor != 0.0f || t.divisor_planes > 0,
                "divisors of planes");
    }

    // Lanes begin with blocks, hold the windows of all their columns, and reach every column.
    void check_lanes() const {
        const int64_t lane = t.lane_windows, before = t.windows_before, pitch = t.lane_pitch;
        require(product.has_byte_copies, "rows that end inside blocks");
        for (const int64_t begin : {lane, before, pitch, int64_t{t.row_elements}})
            require(begin * element_bytes % 32 == 0, "lanes inside blocks");
        require(16 * lane * t.stride_width >= width, "columns without a lane");
        const int64_t first = t.pad_width / t.stride_width - (cover_width() - 1);
        const int64_t last = (lane * t.stride_width - 1 + t.pad_width) / t.stride_width;
        require(first + before >= 0 && last + before < pitch, "windows of a lane");
        require(15 * lane + pitch <= t.row_elements, "last lane");
        require(before + t.windows_width <= t.row_elements, "windows of a row");
        // Sums over the columns of whole rows of lanes read on behind these.
        const int64_t behind = pitch + t.pad_width / t.stride_width + 1;
        require(t.margin >= before + behind - pitch + 1, "margin of lanes");
    }

    void check_tiles() const {
        require(t.store_buffers == 1 || t.store_buffers == 2, "store buffers");
        require(t.lane_planes == 1 || is(kPoolPlanes) || is_tall(), "parts of planes");
        const bool waits = is(kPoolRows) || (is(kPoolDirect) && has_whole_rows());
        const int64_t held = waits ? 512 / element_bytes : 0;
        const int64_t pitch = is(kPoolColumns)   ? t.lane_pitch * t.stride_width
                              : has_whole_rows() ? width
                                                 : round_up(t.tile_width, 16);
        require(t.tile_pitch == pitch, "pitch");
        const int64_t tile_planes = is_tall() ? 1 : t.lane_planes;
        const int64_t added = tile_planes * t.tile_height * pitch, tile = held + added;
        require(t.tile_height >= 1 && tile <= t.tile_elements, "tile beyond a store");
        require(!is(kPoolPlanes) || t.tile_height == height, "part of a plane");
        const bool narrow = element_bytes == 2;
        // What waits in 16 bit takes half as much; whole steps of 16 are rounded.
        require(!narrow || 2 * t.tile_begin >= held, "what waits before the tile");
        const int64_t begin = narrow ? t.tile_begin : held;
        const int64_t end = begin + (held > 0 && narrow ? added + 15 : round_up(tile, 16) - held);
        require(end <= t.tile_positions, "tile beyond its buffer");
        // Sums over columns are made of those of fewer rows, over more of these, and read on.
        int64_t longer = 0;
        for (int64_t half = cover_height() / 2; half > 1; half /= 2) longer += half * width;
        const int64_t behind = std::max(longer + kPoolRepeatPositions - 1, t.pad_width);
        require(t.dense == 0 || begin + t.pad_width + added + behind <= t.tile_positions,
                "sums over columns beyond their buffer");
        // What 16-bit loads overwrite is none of what waits, and none of kPoolDirect's tile.
        require(t.scratch >= (is(kPoolDirect) ? end : narrow ? held / 2 : held), "scratch");
        require(!narrow || t.scratch + t.load_elements / 2 <= t.tile_positions, "scratch's end");
    }

    // What the kernels ask of the unified buffer.
    double bytes() const {
        constexpr double kPosition = 16 * sizeof(float);
        const double load = t.load_elements, columns = t.divisor_columns;
        const double tile = t.tile_positions, positions = std::max(load, tile);
        const auto plane = static_cast<double>(t.grad_height * t.grad_width);
        const double divisors = t.divisor_planes > 0 ? t.divisor_planes * plane : columns;
        double sum = 16.0 * static_cast<double>(element_bytes) *
                     (2 * load + t.store_buffers * static_cast<double>(t.tile_elements));
        sum += kPosition * (t.grad_positions + tile) + 32;
        if (t.mode == kPoolFloat16) sum += kPosition / 2 * positions;
        if (t.mode == kPoolHf32) sum += (4 * 512 + 16) * 4;
        if (element_bytes == 4 && product.arch == 100) sum += kPosition * positions;
        if (t.factor == 0.0f)
            sum += 256 + (t.divisor != 0.0f ? 0 : kPosition * (columns + divisors));
        if (is(kPoolDirect)) return sum + kPosition * static_cast<double>(t.tile_width);
        return sum + kPosition * static_cast<double>(t.lane_planes) * t.sum_rows * t.tile_pitch;
    }
};

// False where the geometry has no window.
bool try_case(const PoolShape& g, Soc soc, uint32_t cores, DataType dtype,
              std::mt19937_64& random) {
    PoolCall call(g, dtype);
    if (!call.has_windows()) return false;
    call.args.soc = soc;
    call.args.count_include_pad = random() % 2 == 0;
    call.args.divisor_override = random() % 4 == 0 ? 3 : 0;
    call.args.cube_math_type =
        soc == Soc::kAscend910B ? static_cast<int64_t>(random() % 4) : 1 + random() % 2;
    Case c{};
    c.planes = g.planes;
    c.height = g.height;
    c.width = g.width;
    c.element_bytes = static_cast<int64_t>(data_type_size(dtype));
    c.product = device::product_of(soc, cores);
    device::Plan plan;
    if (!Op::device_plan(call.args, c.product, plan).ok() || plan.launch_count != 1) std::abort();
    c.t = plan.launches[0].get_tiling<AvgPool2dBackwardTiling>();
    c.blocks = plan.launches[0].blocks;
    c.check();
    dense_tilings += c.t.dense;
    tall_tilings += c.is_tall();
    fill_tilings += c.is(kPoolFill);
    column_tilings += c.is(kPoolColumns);
    apart_tilings += c.is(kPoolPlanes) && c.t.apart_end > 0;
    fewer_lanes += !c.is(kPoolFill) && c.t.lanes < 16;
    return true;
}

}  // namespace

int main() {
    std::mt19937_64 random(1);
    const auto extent = [&](double most) {
        const double exponent = most * static_cast<double>(random() >> 11) / 9007199254740992.0;
        return std::max<int64_t>(1, static_cast<int64_t>(std::exp2(exponent)));
    };
    int64_t tiled = 0;
    for (const Soc soc : {Soc::kAscend910B, Soc::kAscend310P, Soc::kAscend910}) {
        for (size_t round = 0; round < 3000; ++round) {
            PoolShape g{extent(16), extent(11), extent(11), {}, {}, {}, random() % 2 == 0};
            for (int axis = 0; axis < 2; ++axis) {
                g.kernel[axis] = extent(round % 4 == 0 ? 10 : 3);
                g.stride[axis] =
                    random() % 3 == 0 ? g.kernel[axis] : extent(round % 8 == 0 ? 9 : 2);
                g.pad[axis] = static_cast<int64_t>(random() % (g.kernel[axis] / 2 + 1));
            }
            if (round < std::size(kHardPool)) g = kHardPool[round];
            const uint32_t cores = round % 3 != 0 ? 0 : 1 + static_cast<uint32_t>(random() % 40);
            for (const DataType dtype : {DataType::kFloat32, DataType::kFloat16})
                tiled += try_case(g, soc, cores, dtype, random);
        }
    }
    std::printf("%lld tilings\n", static_cast<long long>(tiled));
    const int64_t rarest = std::min({dense_tilings, tall_tilings, split_tilings, fill_tilings,
                                     column_tilings, apart_tilings, fewer_lanes});
    return tiled > 10000 && rarest > 10 ? 0 : 1;
}
