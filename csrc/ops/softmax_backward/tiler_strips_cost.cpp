// The rough count of cycles by which tilings of strips are compared.
#include <algorithm>
#include <numeric>

#include "ops/softmax_backward/tiler_strips.h"

namespace ascend_grad::softmax_backward {

using device::kBlockBytes, device::kCopyCycles, device::kCoreRate, device::kEvenBytes,
    device::kPieceCycles, device::kUnevenRate;

namespace {

// Estimates in cycles, to choose by.
constexpr double kStripCycles = 200;         // from the last chunk's sums to the first one's result
constexpr double kChunkCycles = 120;         // of vector instructions' start-ups in both passes
constexpr double kApartCycles = 75;          // of the copies of a row that goes by itself
constexpr double kApartFactor = 1.05;        // more than that, for many short copies
constexpr double kPackCycles = 75;           // of vector instructions, for the result of such a row
constexpr double kExchangeCycles = 300;      // more, in a team
constexpr double kSoftCycles = 2500;         // more, without a barrier in hardware
constexpr double kSliceCycles = 500;         // more, with a second barrier
constexpr double kCombineCycles = 400;       // more, of several packed columns
constexpr double kStripElementCycles = 0.1;  // of vector instructions
constexpr double kWideningFactor = 1.6;      // more, where inputs are converted
constexpr double kCopiesFactor = 5;          // of the least time, with copies of all tensors
constexpr double kCopiesCycles = 6000;       // more, for any size
constexpr int64_t kLeastRow = 16;            // elements, that strided copies take as blocks

}  // namespace

double StripTiler::slowness(const SoftmaxBackwardTiling& t) const {
    double even = 0;  // of copies
    if (is_packed_) {
        even =
            product_.has_byte_copies ? 1 : static_cast<double>(std::gcd<int64_t>(plane(), 8)) / 8;
    } else if (t.unit > 1) {
        // All but the first chunk, whose first unit is cut; of a team, one block's.
        const bool cuts = t.shift > 0 || shape_.length % t.unit > 0;
        const double chunk = (1 - 0.5 / t.tile) / t.chunks;
        even = !cuts ? 1 : 1 - (t.parts > 1 ? chunk / 2 : chunk);
    } else if (t.rows_apart > 0) {
        // All but half of 512 bytes.
        even = 1 - 256 / static_cast<double>(t.width * shape_.least_size());
    } else if (shape_.inner * shape_.in_size % kEvenBytes == 0 &&
               (t.strips_per_plane == 1 || t.width * shape_.in_size % kEvenBytes == 0)) {
        even = 1;
    }
    return even + (1 - even) / kUnevenRate;
}

double StripTiler::cycles(const SoftmaxBackwardTiling& t, int64_t teams) const {
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
    double loading =
        loads / rate + pieces * (has_whole_rows() && !at_once ? kPieceCycles : kCopyCycles);
    double computing = kStripElementCycles * widening * elements + kChunkCycles * chunks;
    if (t.rows_apart > 0) {
        loading = loads / rate * slowness(t) + pieces * kApartCycles;
        computing += static_cast<double>(part) * kPackCycles;
    }
    const double bytes = loads + elements * static_cast<double>(shape_.out_size) + exchanged;
    // Loads that start pieces do not use the bandwidth; half the time stores do not either.
    const bool has_pieces = product_.has_byte_copies && !at_once;
    const double starts = has_pieces ? pieces * kPieceCycles / 2 : 0;
    const double busy = std::max({bytes / rate * slowness(t) + starts, loading, computing});
    // Both passes of one chunk; free buffers are filled meanwhile.
    waiting += 2 * computing / chunks;
    const double hidden = std::max(0.0, buffers - chunks) * loads / chunks / rate;
    const auto strips = static_cast<double>(divide_up(t.groups, teams) * t.items_per_group);
    // The last strip's waits while the one before is stored; its first and last copies overlap with
    // nothing.
    double end = waiting;
    if (product_.has_byte_copies && strips > 1 && t.parts == 1 && chunks > 2 && !is_packed_) {
        end += 3 * kCopyCycles * chunks - std::min(waiting, computing / chunks + hidden / 2);
    }
    if (product_.has_byte_copies) {
        // Nothing is loaded while the last strip is written, for which half the instructions are.
        const double stores = elements * static_cast<double>(shape_.out_size) / rate;
        end += std::max(0.0, computing / 2 - stores);
    }
    double cycles =
        strips * (busy + exchange) + end + (strips - 1) * std::max(0.0, waiting - hidden);
    if (t.rows_apart > 0) cycles *= kApartFactor;
    if (product_.has_core_barrier) {
        // A byte in a hundred beyond the least counts as much as three of time.
        const double share = bytes / (bytes - exchanged - (loads - inputs));
        cycles *= share * share * share;
    }
    return cycles;
}

double copies_cycles(const Shape& shape, const device::Product& product) {
    const int64_t plane = shape.length * shape.inner;
    const bool is_sensible = shape.inner > 1 && shape.length >= kLeastRow &&
                             plane * shape.least_size() % kBlockBytes == 0;
    if (product.has_byte_copies || !is_sensible) return 1e300;
    const int64_t cores = std::min(saturating_blocks(product), most_blocks(shape, product));
    const int64_t bytes = shape.numel() * (2 * shape.in_size + shape.out_size);
    // Both parts of a row are copies of their own.
    const double cycles = kCopiesFactor * static_cast<double>(bytes) / kCoreRate +
                          kCopyCycles * static_cast<double>(6 * shape.outer * shape.inner);
    return kCopiesCycles + cycles / static_cast<double>(cores);
}

}  // namespace ascend_grad::softmax_backward
