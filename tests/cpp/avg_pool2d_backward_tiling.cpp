// Properties of AvgPool2dBackward's tiling: every element is in one tile of one core, buffers fit
// and hold what a tile needs, cores are as many as pay, even, and meet where blocks do.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "device/product.h"
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

// One axis of the tiling, as the kernels read it.
struct Axis {
    int64_t extent, kernel, stride, pad, windows;
    int64_t size, phase, tiles, cover, table;

    int64_t begin(int64_t tile) const { return std::max<int64_t>(0, tile * size - phase); }
    int64_t end(int64_t tile) const { return std::min(extent, (tile + 1) * size - phase); }
    // Windows that the tile's table begins and ends with.
    int64_t first(int64_t tile) const { return (begin(tile) + pad) / stride - (cover - 1); }
    int64_t last(int64_t tile) const { return (end(tile) - 1 + pad) / stride; }
    // The first window that reaches element x, by the formula in op.h.
    int64_t first_window(int64_t x) const {
        const int64_t beyond = x + pad - kernel;
        return beyond < 0 ? 0 : beyond / stride + 1;
    }
};

struct Case {
    Op::Args args;
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

    bool is_direct() const { return t.traversal == kPoolDirect; }
    Axis rows() const {
        return {t.height,      t.kernel_height, t.stride_height, t.pad_height,   t.windows_height,
                t.tile_height, t.phase_height,  t.tiles_height,  t.cover_height, t.table_rows};
    }
    Axis columns() const {
        return {t.width,      t.kernel_width, t.stride_width, t.pad_width,   t.windows_width,
                t.tile_width, t.phase_width,  t.tiles_width,  t.cover_width, t.table_columns};
    }

    void check() const {
        require(t.height == height && t.width == width && t.planes == planes, "extents");
        check_axis(rows());
        check_axis(columns());
        check_shares();
        check_contents();
        require(bytes() <= static_cast<double>(product.buffer_bytes), "unified buffer");
    }

    // Neighbouring tiles meet, and their tables hold every window of their elements.
    void check_axis(const Axis& axis) const {
        require(axis.begin(0) == 0 && axis.end(axis.tiles - 1) == axis.extent, "ends of an axis");
        const int64_t step = std::max<int64_t>(1, axis.tiles / 500);
        for (int64_t tile = 0; tile < axis.tiles; tile += tile < 4 ? 1 : step) {
            require(axis.begin(tile) < axis.end(tile), "empty tile");
            require(tile == 0 || axis.begin(tile) == axis.end(tile - 1), "tiles do not meet");
            if (is_direct()) continue;
            require(axis.last(tile) - axis.first(tile) < axis.table, "windows beyond the table");
            require(axis.first(tile) <= axis.first_window(axis.begin(tile)), "windows before it");
        }
    }

    int64_t first_unit(int64_t core) const { return core * t.units / blocks; }
    void check_shares() const {
        const int64_t groups = divide_up(planes, 16 * t.lane_planes);
        require(t.units * t.unit_tiles == groups * t.tiles_height * t.tiles_width, "tiles");
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
        if (product.has_byte_copies || blocks == 1) return;
        require(t.unit_tiles == t.tiles_height * t.tiles_width, "cores meet within planes");
        require(16 * t.lane_planes * height * width * element_bytes % 32 == 0, "shared block");
    }

    // A lane's part of grad_output, and of the tile with what waits above it.
    void check_contents() const {
        require(t.store_buffers == 1 || t.store_buffers == 2, "store buffers");
        const int64_t waiting = 512 / element_bytes;
        const bool waits = t.tiles_width == 1 && t.tiles_height > 1;
        require(!waits || t.held_elements >= waiting, "elements that wait");
        const int64_t pitch = t.tiles_width == 1 ? t.width : t.tile_pitch;
        require(t.tile_pitch == pitch && pitch >= t.tile_width, "pitch");
        require((waits ? waiting : 0) + t.lane_planes * t.tile_height * pitch <= t.tile_elements,
                "tile beyond its buffer");
        const bool whole = t.tiles_width == 1 && !is_direct();
        const int64_t row = whole ? t.grad_width : round_up(t.table_columns, 16);
        const int64_t loaded = t.lane_planes > 1 ? t.lane_planes * t.grad_height : t.load_rows;
        require(t.load_rows >= 1 && loaded * row <= t.grad_elements, "load beyond its buffer");
        require(t.lane_planes == 1 || t.tiles_height * t.tiles_width == 1, "parts of planes");
    }

    // What the kernels ask of the unified buffer.
    double bytes() const {
        constexpr double kPosition = 16 * sizeof(float);
        const double grad = t.grad_elements, tile = t.tile_elements, columns = t.table_columns;
        const double lanes = std::max(t.held_elements + grad, tile);
        const bool is_narrow = element_bytes == 2;
        double sum =
            16.0 * static_cast<double>(element_bytes) * (2 * grad + t.store_buffers * tile);
        sum += kPosition * lanes + 32;
        if (is_narrow || t.mode == 1) sum += kPosition / 2 * lanes;
        if (t.mode == 2) sum += (4 * 512 + 16) * 4;
        if (!is_narrow && product.arch == 100) sum += kPosition * lanes;
        if (t.factor == 0.0f) sum += 3 * kPosition * columns;
        if (is_direct()) return sum + kPosition * (columns + static_cast<double>(t.tile_width));
        const int tables = 1 + (t.cover_height > 1) + (t.cover_width > 2);
        return sum +
               tables * kPosition * static_cast<double>(t.lane_planes) * t.table_rows * columns;
    }
};

struct Geometry {
    int64_t planes, height, width, kernel[2], stride[2], pad[2];
    bool ceil;
};

// False where the geometry has no window.
bool try_case(const Geometry& g, Soc soc, uint32_t cores, DataType dtype, std::mt19937_64& random) {
    const int64_t grad[] = {
        g.planes, pool_output_extent(g.height, g.kernel[0], g.stride[0], g.pad[0], g.ceil),
        pool_output_extent(g.width, g.kernel[1], g.stride[1], g.pad[1], g.ceil)};
    if (grad[1] < 1 || grad[2] < 1) return false;
    const int64_t shape[] = {g.planes, g.height, g.width};
    TensorView views[2];
    views[0].dtype = views[1].dtype = dtype;
    set_contiguous(views[0], 3, grad);
    set_contiguous(views[1], 3, shape);
    const IntArray kernel{g.kernel, 2}, stride{g.stride, 2}, padding{g.pad, 2};
    Case c{};
    c.args.tensors[Op::kGradOutput] = &views[0];
    c.args.tensors[Op::kSelf] = c.args.tensors[Op::kGradInput] = &views[1];
    c.args.soc = soc;
    c.args.kernel_size = &kernel;
    c.args.stride = &stride;
    c.args.padding = &padding;
    c.args.ceil_mode = g.ceil;
    c.args.count_include_pad = random() % 2 == 0;
    c.args.divisor_override = random() % 4 == 0 ? 3 : 0;
    c.args.cube_math_type =
        soc == Soc::kAscend910B ? static_cast<int64_t>(random() % 4) : 1 + random() % 2;
    c.planes = g.planes;
    c.height = g.height;
    c.width = g.width;
    c.element_bytes = static_cast<int64_t>(data_type_size(dtype));
    c.product = device::product_of(soc, cores);
    device::Plan plan;
    if (!Op::device_plan(c.args, c.product, plan).ok() || plan.launch_count != 1) std::abort();
    c.t = plan.launches[0].get_tiling<AvgPool2dBackwardTiling>();
    c.blocks = plan.launches[0].blocks;
    c.check();
    return true;
}

const Geometry kHard[] = {
    {1, 1, 1, {1, 1}, {1, 1}, {0, 0}, false},
    {1LL << 31, 1, 1, {1, 1}, {1, 1}, {0, 0}, false},
    {3000000019, 2, 3, {2, 2}, {2, 1}, {1, 0}, true},
    {1, 70001, 70001, {3, 3}, {1, 1}, {1, 1}, false},
    {2, 1, 4294967311, {1, 7}, {1, 3}, {0, 3}, false},
    {2, 4294967311, 1, {7, 1}, {3, 1}, {3, 0}, true},
    {5, 4, 5, {1LL << 31, 1LL << 31}, {1LL << 33, 1}, {1LL << 30, 1LL << 30}, false},
    {64, 500, 600, {499, 500}, {1, 1}, {249, 250}, false},
    {64, 112, 112, {3, 3}, {2, 2}, {1, 1}, true},
    {2048, 7, 7, {7, 7}, {7, 7}, {0, 0}, false},
    {3, 30000, 2, {20000, 1}, {1, 1}, {0, 0}, false},
};

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
            Geometry g{extent(16), extent(11), extent(11), {}, {}, {}, random() % 2 == 0};
            for (int axis = 0; axis < 2; ++axis) {
                g.kernel[axis] = extent(round % 4 == 0 ? 10 : 3);
                g.stride[axis] =
                    random() % 3 == 0 ? g.kernel[axis] : extent(round % 8 == 0 ? 9 : 2);
                g.pad[axis] = static_cast<int64_t>(random() % (g.kernel[axis] / 2 + 1));
            }
            if (round < std::size(kHard)) g = kHard[round];
            const uint32_t cores = round % 3 != 0 ? 0 : 1 + static_cast<uint32_t>(random() % 40);
            for (const DataType dtype : {DataType::kFloat32, DataType::kFloat16})
                tiled += try_case(g, soc, cores, dtype, random);
        }
    }
    std::printf("%lld tilings\n", static_cast<long long>(tiled));
    return tiled > 10000 ? 0 : 1;
}
