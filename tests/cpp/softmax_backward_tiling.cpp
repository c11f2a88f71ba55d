// Properties of SoftmaxBackward's tiling: every element has one core, memory suffices, shares are
// balanced, and cores do not meet in a block where that would harm.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>

#include "device/product.h"
#include "hard_softmax.h"
#include "ops/softmax_backward/tiler.h"
#include "ops/softmax_backward/tiler_strips.h"

namespace {

using namespace ascend_grad;
using softmax_backward::Shape;

struct Case {
    Shape shape;
    device::Product product;
    SoftmaxBackwardTiling t;
    int64_t blocks;

    [[noreturn]] void fail(const char* what) const {
        std::fprintf(stderr,
                     "%s\n  [%lld, %lld, %lld] of %lld -> %lld bytes, arch %d, %u cores: traversal "
                     "%u, %lld blocks, parts %u, groups %lld of %lld, tile %u, width %u, pitch %u, "
                     "%u buffers of %u\n",
                     what, (long long)shape.outer, (long long)shape.length, (long long)shape.inner,
                     (long long)shape.in_size, (long long)shape.out_size, product.arch,
                     product.cores, t.traversal, (long long)blocks, t.parts, (long long)t.groups,
                     (long long)t.items_per_group, t.tile, t.width, t.pitch, t.input_buffers,
                     t.buffer);
        std::exit(1);
    }
    void require(bool condition, const char* what) const {
        if (!condition) fail(what);
    }

    bool is_strips() const {
        return t.traversal == kSoftmaxColumns || t.traversal == kSoftmaxPacked;
    }
    int64_t plane() const { return shape.length * shape.inner; }
    // Rows or small planes as they lie.
    bool is_dense() const { return t.traversal == kSoftmaxRows && t.pitch == plane(); }
    int64_t teams() const { return blocks / t.parts; }
    int64_t least_size() const { return std::min(shape.in_size, shape.out_size); }
    // As the kernel shares out items, and units of rows or elements among a team.
    int64_t first_item(int64_t team) const {
        return std::min(t.groups * team / teams() * t.items_per_group, t.items);
    }
    int64_t units() const {
        const int64_t all = t.traversal == kSoftmaxPacked ? plane() : shape.length;
        return divide_up(lead() + all, t.unit);
    }
    // Rows or elements before a strip from where chunks begin evenly, at most.
    int64_t lead() const {
        return product.has_byte_copies && (shape.outer > 1 || t.shift > 0) ? t.unit - 1 : 0;
    }
    int64_t first_unit(int64_t part) const { return units() * part / t.parts; }

    // Of the unified buffer, as the kernels ask for it.
    int64_t bytes() const {
        const int64_t buffer = t.buffer;
        int64_t sum = t.input_buffers * 2 * buffer * shape.in_size + 2 * buffer * shape.out_size;
        const int64_t group = 32 / least_size();  // elements of whole blocks
        sum += product.has_byte_copies ? 32 + 2 * group * shape.out_size : 1536;
        const bool widens = shape.in_size != 4, is_rows = t.traversal == kSoftmaxRows;
        sum += buffer * (is_strips() ? (widens ? 8 : 4) : is_rows && !widens ? 4 : 12);
        if (is_rows) {
            const int64_t sums = round_up(t.tile, 16) * 64;
            sum +=
                shape.inner > 1 ? plane_scratch() : sums + (product.arch == 100 ? 2048 : sums / 8);
            sum += t.unit * 2 * 4;
        }
        if (!is_strips()) return sum;
        const bool packed = t.traversal == kSoftmaxPacked;
        const int64_t slot =
            round_up(t.pitch + (packed ? std::lcm<int64_t>(shape.inner, 8) : 0), 128);
        sum += (t.chunks <= t.input_buffers ? 2 : 3) * slot * 4;
        if (packed && shape.inner % 8 != 0) {
            const int64_t rows = round_up(std::lcm<int64_t>(shape.inner, 8), 16) * 64;
            sum += shape.inner == 1 ? 3 * 1024 : product.arch == 100 ? 2 * rows : rows;
        }
        const int64_t shared = packed ? round_up(shape.inner, 8) : t.pitch;
        const int64_t at_once = std::max<int64_t>(1, 1024 / shared);
        if (t.slice > 0) {
            require(t.parts > 1 && t.slice * t.parts >= shared, "slices cover the sums");
            sum += int64_t{t.parts} * t.slice * 4;
        } else if (t.parts > 1) {
            sum += std::min<int64_t>(t.parts, at_once) * shared * 4;
        }
        if (t.rows_apart > 0) sum += round_up(t.pitch / 8, 32);
        if (t.parts > 1 && !product.has_core_barrier) sum += blocks * 32;
        return sum;
    }

    int64_t plane_scratch() const {
        return t.period == shape.inner ? 32 : t.period * round_up(t.tile, 8) * 4;
    }

    void check() const {
        require(blocks >= 1 && blocks <= product.cores, "more blocks than cores");
        require(blocks % t.parts == 0, "teams of unequal size");
        const int64_t moved = shape.numel() * (2 * shape.in_size + shape.out_size);
        require(moved > 1 << 14 || blocks == 1, "several cores for little work");
        require(bytes() <= product.buffer_bytes, "more than the unified buffer");
        require(t.tile >= 1 && t.buffer % 16 == 0, "tile or buffer");
        // Packed, only sums lie that far apart, which are floats.
        const int64_t block = t.traversal == kSoftmaxPacked ? 8 : 16;
        require(is_dense() || t.pitch % block == 0, "pitch");
        require(t.input_buffers >= 2 && t.input_buffers <= (product.arch == 100 ? 4 : 8),
                "input buffers");
        check_shares();
        is_strips() ? check_strips() : check_planes();
        if (!product.has_byte_copies) check_blocks_of_memory();
    }

    void check_shares() const {
        require(t.groups == divide_up(t.items, t.items_per_group), "groups");
        require(first_item(0) == 0 && first_item(teams()) == t.items, "items without a core");
        const int64_t least = t.groups / teams(), most = divide_up(t.groups, teams());
        for (int64_t team = 0; team < teams(); ++team) {
            const int64_t groups = t.groups * (team + 1) / teams() - t.groups * team / teams();
            require(groups >= least && groups <= most, "unbalanced by more than a group");
            require(groups > 0, "a core without work");
        }
    }

    void check_planes() const {
        require(t.items == shape.outer && t.parts == 1, "items are planes");
        if (t.traversal == kSoftmaxRows) {
            require(t.pitch == plane() || (shape.inner == 1 && t.pitch > plane()),
                    "planes overlap");
            require(t.period % shape.inner == 0 && t.period % 8 == 0, "a period of sums");
            require(shape.inner == 1 || t.period == shape.inner || plane() >= t.period + 7,
                    "a plane shorter than a period of its sums");
            require(shape.inner == 1 || t.period == shape.inner || t.period <= 8 * 2 * 255,
                    "a period that one instruction does not transpose");
            require(shape.inner == 1 || product.has_byte_copies, "planes between blocks");
            require(t.first >= 1 && t.first <= t.tile, "first tile");
            require(t.unit * least_size() == 32 || t.unit * least_size() == 512, "unit of copies");
            int64_t size = round_up(t.tile * t.pitch, 16);
            if (is_dense()) {
                const auto cuts = [&](int64_t rows, int64_t bytes) {
                    return rows * t.pitch * least_size() % bytes != 0;
                };
                const auto cut = [&](int64_t bytes) {
                    return cuts(t.tile, bytes) || cuts(t.first, bytes) ||
                           cuts(t.items_per_group, bytes);
                };
                require(!cut(32) || product.has_byte_copies, "tiles or shares between blocks");
                require(!cuts(t.items_per_group, 32) || plane() * least_size() >= 64,
                        "a share's begin within a block");
                const int64_t unit = t.unit, to = std::max<int64_t>(unit, 16);
                if (cut(unit * least_size())) size = round_up(unit - 1 + t.tile * t.pitch, to);
            }
            require(t.buffer == size, "tile of rows");
            return;
        }
        require(t.pitch >= t.tile * plane() && t.buffer == 16 * t.pitch, "tile of lanes");
        require(t.pitch == t.tile * plane() || product.has_byte_copies, "lanes between blocks");
        if (t.pitch == t.tile * plane()) {
            require(t.items_per_group * plane() * shape.in_size % 512 == 0, "shares off 512 bytes");
        }
    }

    void check_strips() const {
        require(t.strips_per_plane * t.width >= shape.inner, "columns without a strip");
        require((t.strips_per_plane - 1) * t.width < shape.inner, "strips without columns");
        require(t.items == shape.outer * t.strips_per_plane, "items are strips");
        if (t.traversal == kSoftmaxPacked) {
            require(t.width == shape.inner && t.pitch % shape.inner == 0, "period of columns");
        } else {
            require(t.pitch >= t.width, "pitch");
        }
        const bool packed = t.traversal == kSoftmaxPacked;
        const int64_t row = packed ? 1 : t.pitch;
        require(t.buffer >= int64_t{t.tile} * t.unit * row, "chunk");
        require(t.chunks == divide_up(divide_up(units(), t.parts), t.tile), "chunks");
        require(packed ? t.unit * least_size() == 512
                       : t.unit == 1 || t.unit * shape.inner * least_size() % 512 == 0,
                "chunks off 512 bytes");
        require(packed || t.tile * t.unit <= 4095, "rows of one copy");
        if (t.rows_apart > 0) {
            require(product.has_byte_copies && !packed && t.unit == 1 && t.parts == 1,
                    "rows that cannot be copied apart");
            require(t.pitch >= t.width + 15, "no room to shift rows");
        }
        require(product.has_byte_copies || packed || t.unit == 1, "rows between blocks");
        require(first_unit(0) == 0 && first_unit(t.parts) == units(), "rows without a core");
        require(t.parts == 1 || t.items_per_group == 1, "teams take single strips");
        if (t.strips_per_plane > 1) {
            const bool is_even = shape.inner * least_size() % 512 == 0;
            if (t.unit > 1) {
                require((t.shift * shape.inner - t.width) * least_size() % 512 == 0,
                        "strips off 512 bytes");
            } else if (is_even || !product.has_byte_copies) {
                require(t.width * shape.in_size % 512 == 0, "strips off 512 bytes");
            } else {  // rows begin anywhere
                require(t.width % 16 == 0, "strips inside blocks of rows");
                require(t.width * t.strips_per_plane - shape.inner < 16 * t.strips_per_plane,
                        "strips of unequal width");
                require(t.width * shape.in_size >= 128, "narrow strips");
            }
        }
    }

    // Where products store whole blocks, no two cores share one, nor a line of 64 bytes where less
    // than a block is stored, by the scalar unit.
    void check_blocks_of_memory() const {
        const auto whole = [&](int64_t elements) { return elements * shape.out_size % 32 == 0; };
        const bool packed = t.traversal == kSoftmaxPacked;
        // Elements of a plane's last chunk.
        const int64_t last = plane() - int64_t{t.chunks - 1} * t.tile * t.unit;
        const bool is_short = packed ? last * shape.out_size < 32
                                     : is_strips() && shape.length > 1 && !whole(shape.inner);
        const int64_t unit = is_short && t.parts == 1 ? 64 : 32;
        for (int64_t team = 1; team < teams(); ++team) {
            const int64_t item = first_item(team);
            if (item == t.items) continue;
            const int64_t column = item % t.strips_per_plane * t.width;
            const int64_t begin = item / t.strips_per_plane * plane() + column;
            require(begin * shape.out_size % unit == 0, "shared block or line");
        }
        if (t.traversal == kSoftmaxColumns && shape.length > 1 && !whole(shape.inner)) {
            require(t.items_per_group % t.strips_per_plane == 0, "strips that meet in a block");
            require(t.parts == 1, "parts that meet in a block");
        }
        if (t.parts > 1) {
            require(shape.outer == 1 || whole(plane()), "planes of a team off blocks");
        }
    }
};

bool try_case(const Shape& shape, const device::Product& product) {
    Case c{shape, product, {}, 0};
    uint32_t blocks = 0;
    if (!softmax_backward::tile(shape, product, c.t, blocks)) {
        c.require(!product.has_byte_copies && shape.inner > 1, "no tiling");
        return false;
    }
    c.blocks = blocks;
    c.check();
    return true;
}

// What is remembered of a search belongs to its shape, dtypes and product.
void check_remembered() {
    const Shape first{7, 1000, 777, 4, 4};
    const Shape shapes[] = {first,
                            {8, 1000, 777, 4, 4},
                            {7, 999, 777, 4, 4},
                            {7, 1000, 776, 4, 4},
                            {7, 1000, 777, 2, 4},
                            {7, 1000, 777, 4, 2},
                            first};
    for (const Soc soc : {Soc::kAscend910B, Soc::kAscend910}) {
        for (const uint32_t cores : {0u, 8u}) {
            const device::Product product = device::product_of(soc, cores);
            for (const Shape& shape : shapes) {
                Case c{shape, product, {}, 0};
                uint32_t blocks = 0;
                if (!softmax_backward::tile_strips(shape, product, c.t, blocks)) continue;
                const auto choice = softmax_backward::StripTiler(shape, product).best();
                c.blocks = blocks;
                c.require(std::memcmp(&c.t, &choice.tiling, sizeof(c.t)) == 0 &&
                              c.blocks == choice.blocks,
                          "not what a search finds");
            }
        }
    }
}

}  // namespace

int main() {
    check_remembered();
    std::mt19937_64 random(1);
    const auto uniform = [&](double low, double high) {
        return low + (high - low) * static_cast<double>(random() >> 11) / 9007199254740992.0;
    };
    const auto extent = [&](double most) {
        return std::max<int64_t>(1, static_cast<int64_t>(std::exp2(uniform(0, most))));
    };
    int64_t tiled = 0, refused = 0;
    for (const Soc soc : {Soc::kAscend910B, Soc::kAscend310P, Soc::kAscend910}) {
        for (int round = 0; round < 6000; ++round) {
            const uint32_t cores = round % 3 != 0 ? 0 : 1 + static_cast<uint32_t>(random() % 40);
            const device::Product product = device::product_of(soc, cores);
            Shape shape{extent(14), extent(16), round % 2 == 0 ? 1 : extent(12), 4, 4};
            if (round < static_cast<int>(std::size(kHardSoftmax))) {
                const auto& [outer, length, inner] = kHardSoftmax[round];
                shape = {outer, length, inner, 4, 4};
            }
            if (shape.length == 1) shape = {1, 1, shape.numel(), 4, 4};
            for (const int64_t in : {4, 2}) {
                for (const int64_t out : {4, 2}) {
                    shape.in_size = in;
                    shape.out_size = out;
                    ++(try_case(shape, product) ? tiled : refused);
                }
            }
        }
    }
    std::printf("%lld tilings, %lld left to copies\n", (long long)tiled, (long long)refused);
    return tiled > 50000 && refused > 0 ? 0 : 1;
}
