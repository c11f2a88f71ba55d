#include "ops/softmax_backward/traversals.h"

#include <algorithm>
#include <numeric>

namespace ascend_grad::softmax_backward {
namespace {

constexpr int64_t kSlotFloats = 128;  // as the kernel has it
constexpr int64_t kLevels = 3;
constexpr int64_t kMaxTileRows = 4095;
// Estimates in cycles, to choose by.
constexpr double kCoreRate = 32;  // bytes of one core
constexpr double kPieceCycles = 4;
constexpr double kCopyCycles = 30;       // of a copy of its own
constexpr double kStripCycles = 150;     // of a strip in one chunk
constexpr double kSerialCycles = 150;    // more, when its chunks wait for each other
constexpr double kExchangeCycles = 900;  // more, in a team
constexpr double kCombineCycles = 300;   // more, of several packed columns
constexpr double kElementCycles = 0.13;  // of vector instructions, start-up included
constexpr double kWideningFactor = 1.6;  // more, where inputs are converted
constexpr double kUnalignedFactor = 0.7;
constexpr double kCopiesFactor = 5;         // of the least time, with copies of all tensors
constexpr double kCopiesCycles = 6000;      // more, for any size
constexpr int64_t kLeastRow = 16;           // elements, that strided copies take as blocks
constexpr int64_t kMaxRowBytes = 64 << 10;  // of sums as rows of lanes, packed
constexpr int64_t kLeastPitch = 256;        // packed

struct Choice {
    double cycles = 1e300;
    SoftmaxBackwardTiling tiling{};
    int64_t blocks = 1;
};

// Floats that each block of a team contributes to its strip's sums.
int64_t shared_floats(SoftmaxBackwardTraversal traversal, int64_t inner, int64_t pitch) {
    return round_up(traversal == kSoftmaxPacked && inner > 1 ? inner : pitch, kSlotFloats);
}

class StripTiler {
  public:
    StripTiler(const Shape& shape, const device::Product& product)
        : shape_(shape), product_(product) {}

    Choice best() {
        const int64_t most = most_blocks(shape_, product_);
        const int64_t most_parts = may_team() ? most : 1;
        is_packed_ = true;
        for (int64_t parts = 1; may_pack() && parts <= most_parts; ++parts) {
            try_strips(shape_.inner, parts, most);
        }
        is_packed_ = false;
        if (shape_.inner == 1) return best_;
        const int64_t step = 512 / shape_.in_size;  // columns
        for (int64_t k = 1; k <= 64; k += k < 8 ? 1 : k < 16 ? 2 : k < 32 ? 4 : 8) {
            const int64_t width = std::min(k * step, shape_.inner);
            for (int64_t parts = 1; parts <= (has_whole_rows() ? most_parts : 1); ++parts) {
                try_strips(width, parts, most);
            }
            if (width == shape_.inner) break;
        }
        return best_;
    }

  private:
    // Whether rows begin at blocks, where products store no less.
    bool has_whole_rows() const {
        const int64_t bytes = shape_.inner * std::min(shape_.in_size, shape_.out_size);
        return product_.has_byte_copies || shape_.length == 1 || bytes % 32 == 0;
    }
    bool may_pack() const { return shape_.inner == 1 || row_bytes() <= kMaxRowBytes; }
    // Of sums after which columns and blocks repeat, sixteen floats each.
    int64_t row_bytes() const {
        const int64_t bytes = round_up(std::lcm<int64_t>(shape_.inner, 8), 16) * 16 * 4;
        return product_.arch == 100 ? 2 * bytes : bytes;
    }
    int64_t packed_pitch() const {
        if (shape_.inner == 1) return 512 / shape_.in_size;
        return round_up(kLeastPitch, std::lcm<int64_t>(shape_.inner, 16));
    }

    // Parts of a strip begin at blocks if its planes do.
    bool may_team() const {
        return product_.has_byte_copies || shape_.outer == 1 ||
               shape_.length * shape_.inner * shape_.out_size % 32 == 0;
    }

    SoftmaxBackwardTraversal traversal() const {
        return is_packed_ ? kSoftmaxPacked : kSoftmaxColumns;
    }
    int64_t plane() const { return shape_.length * shape_.inner; }

    int64_t fixed_bytes(int64_t slot, int64_t parts, bool holds) const {
        int64_t bytes = tail_bytes(product_) + (holds ? 2 : kLevels) * slot * 4;
        if (is_packed_) bytes += shape_.inner == 1 ? 3 * 256 * 4 : row_bytes();
        if (parts > 1 && !product_.has_core_barrier) bytes += product_.cores * 32;
        return bytes;
    }

    // Rows (or multiples of the pitch) that a buffer can hold if there are that many.
    int64_t most_units(int64_t pitch, int64_t parts, int64_t buffers, bool holds) const {
        const int64_t slot = round_up(pitch, kSlotFloats);
        const int64_t room = product_.buffer_bytes - fixed_bytes(slot, parts, holds);
        const int64_t unit = pitch * shape_.chunk_bytes(buffers);
        const auto units = [&](int64_t bytes) {
            return std::clamp<int64_t>(bytes / unit, 0, kMaxTileRows);
        };
        const int64_t most = units(room);
        // The team's sums lie in the products' buffer if they fit there.
        const int64_t shared = parts * shared_floats(traversal(), shape_.inner, pitch);
        return shared <= most * pitch || parts == 1 ? most : units(room - shared * 4);
    }

    void try_strips(int64_t width, int64_t parts, int64_t most) {
        SoftmaxBackwardTiling t{};
        t.length = shape_.length;
        t.inner = shape_.inner;
        t.traversal = traversal();
        t.strips_per_plane = divide_up(shape_.inner, width);
        t.items = shape_.outer * t.strips_per_plane;
        t.items_per_group = 1;
        if (!product_.has_byte_copies && parts == 1 && (is_packed_ || !has_whole_rows())) {
            // Strips whose rows may meet in a block are one core's.
            const int64_t planes = 32 / std::gcd<int64_t>(plane() * shape_.out_size, 32);
            t.items_per_group = planes * t.strips_per_plane;
        }
        t.groups = divide_up(t.items, t.items_per_group);
        t.parts = static_cast<uint32_t>(parts);
        t.width = static_cast<uint32_t>(width);
        const int64_t pitch = is_packed_ ? packed_pitch() : round_up(width, 16);
        t.pitch = static_cast<uint32_t>(pitch);
        const int64_t units = is_packed_ ? divide_up(plane(), pitch) : shape_.length;
        const int64_t part = divide_up(units, parts);
        if (parts > units) return;
        const bool holds = choose_buffers(t, part);
        if (t.tile == 0) return;
        const int64_t teams = best_blocks(t.groups * parts, most / parts * parts, product_) / parts;
        for (int64_t n = std::max<int64_t>(teams, 1); n >= 1 && n + 8 > teams; --n) {
            consider(t, part, n, holds);
        }
        for (int64_t n = most / parts; n >= 1 && n * parts * 5 > most * 3; --n) {
            consider(t, part, n, holds);
        }
    }

    // One chunk at a time in two buffers; else all in as many as there may be; else they are read
    // twice.
    bool choose_buffers(SoftmaxBackwardTiling& t, int64_t part) const {
        const int64_t most_buffers = product_.arch == 100 ? 4 : 8;  // events, tensors in flight
        const auto set = [&](int64_t buffers, bool holds) {
            const int64_t units = most_units(t.pitch, t.parts, buffers, holds);
            t.tile = 0;
            if (units == 0) return false;
            const int64_t chunks = divide_up(part, units);
            t.input_buffers = static_cast<uint32_t>(buffers);
            t.tile = static_cast<uint32_t>(divide_up(part, chunks));
            int64_t buffer = t.tile * t.pitch;
            const int64_t sums = t.parts * shared_floats(traversal(), t.inner, t.pitch);
            if (t.parts > 1 && sums <= units * t.pitch) buffer = std::max(buffer, sums);
            t.buffer = static_cast<uint32_t>(buffer);
            return chunks <= (buffers == 2 ? 1 : buffers);
        };
        if (set(2, true)) return true;
        for (int64_t buffers = most_buffers; buffers > 2; --buffers) {
            if (set(buffers, true)) return true;
        }
        set(2, false);
        return false;
    }

    // Against copies that begin evenly.
    double slowness(const SoftmaxBackwardTiling& t) const {
        double even = 0;  // of copies
        if (is_packed_) {
            const int64_t bytes = plane() * std::min(shape_.in_size, shape_.out_size);
            even = static_cast<double>(std::gcd<int64_t>(bytes, 32)) / 32;
        } else if (shape_.inner * shape_.in_size % 512 == 0 &&
                   (t.strips_per_plane == 1 || t.width * shape_.in_size % 512 == 0)) {
            even = 1;
        }
        return even + (1 - even) / kUnalignedFactor;
    }

    void consider(const SoftmaxBackwardTiling& t, int64_t part, int64_t teams, bool holds) {
        const int64_t blocks = teams * t.parts;
        const double saturating = static_cast<double>(saturating_blocks(product_));
        const double rate =
            kCoreRate *
            std::min(1.0, saturating / static_cast<double>(std::max<int64_t>(blocks, 1)));
        const int64_t row = is_packed_ ? t.pitch : t.width;
        const double elements = static_cast<double>(std::min(part * row, plane()));
        const double loads = elements * static_cast<double>(shape_.in_size) * (holds ? 2 : 4);
        double bytes = loads + elements * static_cast<double>(shape_.out_size);
        double cycles = kStripCycles;
        if (divide_up(part, t.tile) > 1) cycles += kSerialCycles;
        if (t.parts > 1) {
            const int64_t shared = shared_floats(traversal(), t.inner, t.pitch);
            bytes += static_cast<double>((t.parts + 1) * shared * 4);
            cycles += kExchangeCycles + (product_.has_core_barrier ? 0 : 2000);
        }
        if (is_packed_ && shape_.inner > 1) cycles += kCombineCycles + static_cast<double>(t.pitch);
        const double copying = bytes / rate * slowness(t);
        const bool at_once = is_packed_ || (has_whole_rows() && row == shape_.inner);
        const double pieces = at_once ? 0 : static_cast<double>(part);
        const double loading = loads / rate + pieces * (holds ? 2 : 4) *
                                                  (has_whole_rows() ? kPieceCycles : kCopyCycles);
        const double computing =
            kElementCycles * (shape_.in_size == 4 ? 1 : kWideningFactor) * elements;
        cycles += std::max({copying, loading, computing});
        // The last chunk's products and the first one's results wait for all others.
        cycles += computing / static_cast<double>(divide_up(part, t.tile));
        const int64_t strips = divide_up(t.groups, teams) * t.items_per_group;
        cycles *= static_cast<double>(strips);
        if (cycles >= best_.cycles) return;
        best_.cycles = cycles;
        best_.tiling = t;
        best_.blocks = blocks;
    }

    const Shape& shape_;
    const device::Product& product_;
    bool is_packed_ = false;
    Choice best_;
};

// Of rows, with transposed copies before and after.
double copies_cycles(const Shape& shape, const device::Product& product) {
    const int64_t plane = shape.length * shape.inner;
    const bool is_sensible = shape.inner > 1 && shape.length >= kLeastRow &&
                             plane * std::min(shape.in_size, shape.out_size) % 32 == 0;
    if (product.has_byte_copies || !is_sensible) return 1e300;
    const int64_t cores = std::min(saturating_blocks(product), most_blocks(shape, product));
    const int64_t bytes = shape.numel() * (2 * shape.in_size + shape.out_size);
    // Both parts of a row are copies of their own.
    const double cycles = kCopiesFactor * static_cast<double>(bytes) / kCoreRate +
                          kCopyCycles * static_cast<double>(6 * shape.outer * shape.inner);
    return kCopiesCycles + cycles / static_cast<double>(cores);
}

}  // namespace

bool tile_strips(const Shape& shape, const device::Product& product, SoftmaxBackwardTiling& tiling,
                 uint32_t& blocks) {
    const Choice choice = StripTiler(shape, product).best();
    if (choice.cycles > copies_cycles(shape, product)) return false;
    tiling = choice.tiling;
    blocks = static_cast<uint32_t>(choice.blocks);
    return true;
}

uint64_t workspace_bytes(const SoftmaxBackwardTiling& tiling, const device::Product& product,
                         uint32_t blocks) {
    const auto traversal = static_cast<SoftmaxBackwardTraversal>(tiling.traversal);
    const int64_t shared = shared_floats(traversal, tiling.inner, tiling.pitch);
    const int64_t flags = product.has_core_barrier ? 0 : round_up(blocks * 32, kSlotFloats * 4);
    return static_cast<uint64_t>(flags + 2 * static_cast<int64_t>(blocks) * shared * 4);
}

}  // namespace ascend_grad::softmax_backward
