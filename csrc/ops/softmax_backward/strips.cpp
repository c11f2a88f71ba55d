#include "ops/softmax_backward/traversals.h"

#include <algorithm>
#include <numeric>

namespace ascend_grad::softmax_backward {
namespace {

constexpr int64_t kLevels = 3;
constexpr int64_t kMaxTileRows = 4095;
// Estimates in cycles, to choose by.
constexpr double kCoreRate = 32;  // bytes of one core
constexpr double kPieceCycles = 4;
constexpr double kCopyCycles = 30;       // of a copy of its own
constexpr double kStripCycles = 200;     // from the last chunk's sums to the first one's result
constexpr double kChunkCycles = 120;     // of vector instructions' start-ups in both passes
constexpr double kExchangeCycles = 300;  // more, in a team
constexpr double kSoftCycles = 2500;     // more, without a barrier in hardware
constexpr double kSliceCycles = 500;     // more, with a second barrier
constexpr double kCombineCycles = 400;   // more, of several packed columns
constexpr double kElementCycles = 0.1;   // of vector instructions
constexpr double kWideningFactor = 1.6;  // more, where inputs are converted
constexpr double kUnalignedFactor = 0.7;
constexpr double kCopiesFactor = 5;         // of the least time, with copies of all tensors
constexpr double kCopiesCycles = 6000;      // more, for any size
constexpr int64_t kLeastRow = 16;           // elements, that strided copies take as blocks
constexpr int64_t kMaxRowBytes = 64 << 10;  // of sums as rows of lanes, packed
constexpr int64_t kLeastPitch = 256;        // packed
constexpr int64_t kMostEvenRows = 32;       // between places where rows begin evenly

struct Choice {
    double cycles = 1e300;
    SoftmaxBackwardTiling tiling{};
    int64_t blocks = 1;
};

// Floats that each block of a team contributes to its strip's sums.
int64_t shared_floats(const SoftmaxBackwardTiling& t) {
    if (t.traversal == kSoftmaxColumns) return t.pitch;
    return round_up(t.inner, 8);
}

// Many are added in slices; of two blocks those would move no less.
uint32_t slice_floats(const SoftmaxBackwardTiling& t, const device::Product& product) {
    const int64_t shared = shared_floats(t);
    if (product.arch != 220 || t.parts < 3 || t.parts * shared <= kSoftmaxPartialFloats) return 0;
    return static_cast<uint32_t>(round_up(divide_up(shared, t.parts), 8));
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
            try_strips(shape_.inner, 512 / least_size(), parts, most);
        }
        is_packed_ = false;
        if (shape_.inner == 1) return best_;
        // Columns and rows between multiples of 512 bytes.
        const int64_t step = 512 / shape_.in_size;
        const int64_t even = 512 / std::gcd<int64_t>(shape_.inner * least_size(), 512);
        const bool may_be_even = even > 1 && even <= kMostEvenRows && product_.has_byte_copies;
        const int64_t narrowest = step / 2;
        for (int64_t k = 1; may_be_even && k <= 8 && k * narrowest < shape_.inner; ++k) {
            for (int64_t parts = 1; parts <= most_parts; ++parts) {
                try_strips(k * narrowest, even, parts, most);
            }
        }
        for (int64_t k = 1; k <= 64; k += k < 8 ? 1 : k < 16 ? 2 : k < 32 ? 4 : 8) {
            const int64_t width = std::min(k * step, shape_.inner);
            for (int64_t parts = 1; parts <= (has_whole_rows() ? most_parts : 1); ++parts) {
                try_strips(width, 1, parts, most);
            }
            if (width == shape_.inner) break;
        }
        return best_;
    }

  private:
    // Whether rows begin at blocks, where products store no less.
    bool has_whole_rows() const {
        const int64_t bytes = shape_.inner * least_size();
        return product_.has_byte_copies || shape_.length == 1 || bytes % 32 == 0;
    }
    bool may_pack() const { return shape_.inner == 1 || row_bytes() <= kMaxRowBytes; }
    // Of sums after which columns and blocks repeat, sixteen floats each, if that is not a row.
    int64_t row_bytes() const {
        if (shape_.inner % 8 == 0) return 0;
        const int64_t bytes = round_up(std::lcm<int64_t>(shape_.inner, 8), 16) * 16 * 4;
        return product_.arch == 100 ? 2 * bytes : bytes;
    }
    int64_t packed_pitch() const {
        if (shape_.inner == 1) return 512 / shape_.in_size;
        return round_up(kLeastPitch, std::lcm<int64_t>(shape_.inner, 8));
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
    int64_t least_size() const { return std::min(shape_.in_size, shape_.out_size); }

    // Rows or elements of a strip, of which units are made.
    int64_t all() const { return is_packed_ ? plane() : shape_.length; }
    // Elements of a tile's unit, in a buffer.
    int64_t unit_of(const SoftmaxBackwardTiling& t) const {
        return is_packed_ ? t.unit : int64_t{t.unit} * t.pitch;
    }

    // Partial sums that a block has in its buffer at a time, at most.
    int64_t received_floats(const SoftmaxBackwardTiling& t) const {
        const int64_t shared = shared_floats(t);
        if (t.slice > 0) return int64_t{t.parts} * t.slice;
        return std::min(t.parts * shared, std::max<int64_t>(kSoftmaxPartialFloats, shared));
    }

    // Of the unified buffer, but for the tiles.
    int64_t fixed_bytes(const SoftmaxBackwardTiling& t, bool holds) const {
        const int64_t period = is_packed_ ? std::lcm<int64_t>(shape_.inner, 8) : 0;
        const int64_t slot = round_up(t.pitch + period, kSoftmaxSlotFloats);
        int64_t bytes = tail_bytes(product_) + (holds ? 2 : kLevels) * slot * 4;
        if (is_packed_) bytes += shape_.inner == 1 ? 3 * 256 * 4 : row_bytes();
        if (t.parts > 1) bytes += received_floats(t) * 4;
        if (t.parts > 1 && !product_.has_core_barrier) bytes += product_.cores * 32;
        return bytes;
    }

    // Units that a buffer can hold if there are that many.
    int64_t most_units(const SoftmaxBackwardTiling& t, int64_t buffers, bool holds) const {
        const int64_t room = product_.buffer_bytes - fixed_bytes(t, holds);
        const int64_t most = room / (unit_of(t) * shape_.chunk_bytes(buffers));
        return std::clamp<int64_t>(most, 0, is_packed_ ? kMaxTileRows : kMaxTileRows / t.unit);
    }

    // The first row that begins as far behind a multiple of 512 bytes as column `width` of row 0;
    // `unit`, after which that repeats, if there is none.
    int64_t shift_of(int64_t width, int64_t unit) const {
        int64_t shift = 0;
        while (shift < unit && (shift * shape_.inner - width) * least_size() % 512 != 0) ++shift;
        return shift;
    }

    void try_strips(int64_t width, int64_t unit, int64_t parts, int64_t most) {
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
        t.pitch = static_cast<uint32_t>(is_packed_ ? packed_pitch() : round_up(width, 16));
        t.unit = static_cast<uint32_t>(unit);
        if (!is_packed_ && unit > 1) {
            t.shift = static_cast<uint32_t>(shift_of(width, unit));
            if (t.shift == unit) return;
        }
        t.slice = slice_floats(t, product_);
        if (parts > all() / unit && parts > 1) return;
        const int64_t most_buffers =
            product_.arch == 100 ? 4 : kSoftmaxMaxQueued;  // events, tensors
        bool holds = false;
        for (int64_t chunks = 1; chunks <= most_buffers; ++chunks) {
            holds |= choose_teams(t, chunks, most_buffers, most);
        }
        if (!holds) choose_teams(t, 0, most_buffers, most);
    }

    // Units of a part, at most.
    int64_t part_of(const SoftmaxBackwardTiling& t) const {
        const bool leads = product_.has_byte_copies && (shape_.outer > 1 || t.shift > 0);
        return divide_up(divide_up(all() + (leads ? t.unit - 1 : 0), t.unit), t.parts);
    }

    // With so many chunks in buffers, or more than there are (0). False where they do not fit.
    bool choose_teams(SoftmaxBackwardTiling& t, int64_t chunks, int64_t most_buffers,
                      int64_t most) {
        const bool holds = chunks > 0;
        const int64_t part = part_of(t);
        int64_t buffers = most_buffers;
        int64_t tile = 0;
        if (holds) {
            tile = divide_up(part, chunks);
            if (divide_up(part, tile) < chunks) return false;
            const int64_t least = std::max<int64_t>(chunks, 2);
            while (buffers > least && most_units(t, buffers, true) < tile) --buffers;
            if (most_units(t, buffers, true) < tile) return false;
        } else {
            const int64_t units = most_units(t, buffers, false);
            if (units == 0) return false;
            tile = divide_up(part, divide_up(part, units));
            chunks = divide_up(part, tile);
        }
        t.tile = static_cast<uint32_t>(tile);
        t.input_buffers = static_cast<uint32_t>(buffers);
        t.chunks = static_cast<uint32_t>(chunks);
        t.buffer = static_cast<uint32_t>(t.tile * unit_of(t));
        const int64_t parts = t.parts;
        const int64_t teams = best_blocks(t.groups * parts, most / parts * parts, product_) / parts;
        for (int64_t n = std::max<int64_t>(teams, 1); n >= 1 && n + 8 > teams; --n) consider(t, n);
        for (int64_t n = most / parts; n >= 1 && n * parts * 5 > most * 3; --n) consider(t, n);
        return true;
    }

    // Against copies that begin evenly.
    double slowness(const SoftmaxBackwardTiling& t) const {
        double even = 0;  // of copies
        if (is_packed_) {
            even = static_cast<double>(std::gcd<int64_t>(plane(), 8)) / 8;
            // Of a row, all but the first chunk.
            if (shape_.inner == 1) even = std::max(even, 1 - 1.0 / t.chunks);
        } else if (t.unit > 1 ||
                   (shape_.inner * shape_.in_size % 512 == 0 &&
                    (t.strips_per_plane == 1 || t.width * shape_.in_size % 512 == 0))) {
            even = 1;
        }
        return even + (1 - even) / kUnalignedFactor;
    }

    void consider(const SoftmaxBackwardTiling& t, int64_t teams) {
        const double blocks = static_cast<double>(std::max<int64_t>(teams * t.parts, 1));
        const double saturating = static_cast<double>(saturating_blocks(product_));
        const double rate = kCoreRate * std::min(1.0, saturating / blocks);
        const int64_t part = std::min(part_of(t) * t.unit, all());
        const double elements = static_cast<double>(part * (is_packed_ ? 1 : t.width));
        const double chunks = t.chunks, buffers = t.input_buffers;
        const double again = std::max(0.0, 1 - buffers / chunks);  // of elements, loaded
        const double inputs = elements * static_cast<double>(2 * shape_.in_size);
        const double loads = inputs * (1 + again);
        double exchanged = 0;
        double waiting = kStripCycles;
        const double widening = shape_.in_size == 4 ? 1 : kWideningFactor;
        double exchange = 0;
        if (t.parts > 1) {
            const int64_t slice = t.slice, shared = shared_floats(t);
            const int64_t floats =
                slice > 0 ? 2 * shared + (t.parts + 1) * slice : (t.parts + 1) * shared;
            exchanged = static_cast<double>(floats * 4);
            exchange = kExchangeCycles + (product_.has_core_barrier ? 0 : kSoftCycles) +
                       (slice > 0 ? kSliceCycles : 0);
        }
        if (is_packed_ && shape_.inner > 1) {
            waiting += (row_bytes() > 0 ? kCombineCycles : 0) + static_cast<double>(t.pitch) / 2;
        }
        const bool at_once = is_packed_ || t.pitch == shape_.inner;
        const double pieces = at_once ? 2 * chunks : static_cast<double>(2 * part) * (1 + again);
        const double loading =
            loads / rate + pieces * (has_whole_rows() && !at_once ? kPieceCycles : kCopyCycles);
        const double computing = kElementCycles * widening * elements + kChunkCycles * chunks;
        const double bytes = loads + elements * static_cast<double>(shape_.out_size) + exchanged;
        // Loads that start pieces do not use the bandwidth; half the time stores do not either.
        const bool has_pieces = product_.has_byte_copies && !at_once;
        const double starts = has_pieces ? pieces * kPieceCycles / 2 : 0;
        const double busy = std::max({bytes / rate * slowness(t) + starts, loading, computing});
        // Both passes of one chunk; free buffers are filled meanwhile.
        waiting += 2 * computing / chunks;
        const double hidden = std::max(0.0, buffers - chunks) * loads / chunks / rate;
        const auto strips = static_cast<double>(divide_up(t.groups, teams) * t.items_per_group);
        double cycles =
            strips * (busy + exchange) + waiting + (strips - 1) * std::max(0.0, waiting - hidden);
        if (product_.has_core_barrier) {
            // A byte in a hundred beyond the least counts as much as three of time.
            const double share = bytes / (bytes - exchanged - (loads - inputs));
            cycles *= share * share * share;
        }
        if (cycles < best_.cycles) best_ = {cycles, t, teams * t.parts};
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
    const int64_t shared = round_up(shared_floats(tiling), kSoftmaxSlotFloats);
    const int64_t flags =
        product.has_core_barrier ? 0 : round_up(blocks * 32, kSoftmaxSlotFloats * 4);
    const int64_t slots = 2 * static_cast<int64_t>(blocks) + blocks / tiling.parts;
    return static_cast<uint64_t>(flags + slots * shared * 4);
}

}  // namespace ascend_grad::softmax_backward
