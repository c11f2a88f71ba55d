#include <algorithm>
#include <array>
#include <numeric>

#include "ops/softmax_backward/tiler_strips.h"

namespace ascend_grad::softmax_backward {
namespace {

constexpr int64_t kLevels = 3;
constexpr int64_t kMaxRowBytes = 64 << 10;  // of sums as rows of lanes, packed
constexpr int64_t kLeastPitch = 256;        // packed
constexpr int64_t kMostEvenRows = 32;       // between places where rows begin evenly

// Many are added in slices; of two blocks those would move no less.
uint32_t slice_floats(const SoftmaxBackwardTiling& t, const device::Product& product) {
    const int64_t shared = shared_floats(t);
    if (product.arch != 220 || t.parts < 3 || t.parts * shared <= kSoftmaxPartialFloats) return 0;
    return static_cast<uint32_t>(round_up(divide_up(shared, t.parts), 8));
}

// best(), remembered by each thread for some shapes: a search takes up to half a millisecond, ten
// times as long as the kernel, and programs call with the same shapes again and again.
StripTiler::Choice best_of(const Shape& shape, const device::Product& product) {
    using Key = std::array<int64_t, 7>;
    struct Known {
        Key key;
        StripTiler::Choice choice;
    };
    thread_local std::array<Known, 16> known{};
    thread_local size_t next = 0;
    const Key key = {shape.outer,    shape.length, shape.inner,  shape.in_size,
                     shape.out_size, product.arch, product.cores};
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const Known& one) { return one.key == key; });
    if (found != known.end()) return found->choice;
    Known& oldest = known[next++ % known.size()];
    oldest = {key, StripTiler(shape, product).best()};
    return oldest.choice;
}

}  // namespace

int64_t shared_floats(const SoftmaxBackwardTiling& t) {
    if (t.traversal == kSoftmaxColumns) return t.pitch;
    return round_up(t.inner, 8);
}

StripTiler::Choice StripTiler::best() {
    const int64_t most = most_blocks(shape_, product_);
    const int64_t most_parts = may_team() ? most : 1;
    is_packed_ = true;
    for (int64_t parts = 1; may_pack() && parts <= most_parts; ++parts) {
        try_strips(shape_.inner, device::kEvenBytes / least_size(), parts, most);
    }
    is_packed_ = false;
    if (shape_.inner == 1) return best_;
    // Columns and rows between multiples of 512 bytes.
    const int64_t step = device::kEvenBytes / shape_.in_size;
    const int64_t even =
        device::kEvenBytes / std::gcd(shape_.inner * least_size(), device::kEvenBytes);
    const bool may_be_even = even > 1 && even <= kMostEvenRows && product_.has_byte_copies;
    const int64_t narrowest = step / 2;
    for (int64_t k = 1; may_be_even && k <= 8 && k * narrowest < shape_.inner; ++k) {
        for (int64_t parts = 1; parts <= most_parts; ++parts) {
            try_strips(k * narrowest, even, parts, most);
        }
    }
    const bool is_uneven =
        product_.has_byte_copies && shape_.inner * least_size() % device::kEvenBytes != 0;
    for (int64_t k = 1; k <= 64; k += k < 8 ? 1 : k < 16 ? 2 : k < 32 ? 4 : 8) {
        int64_t width = std::min(k * step, shape_.inner);
        // Where rows begin anywhere, strips do as well, and are equal.
        if (is_uneven && width < shape_.inner) {
            width = round_up(even_part(shape_.inner, width), 16);
        }
        for (int64_t parts = 1; parts <= (has_whole_rows() ? most_parts : 1); ++parts) {
            try_strips(width, 1, parts, most);
        }
        if (width == shape_.inner) break;
    }
    for (int64_t k = 8; is_uneven && k <= 256; k += k / 8) {
        const int64_t strips = divide_up(shape_.inner, k * step / 4);
        try_strips(round_up(divide_up(shape_.inner, strips), 16), 1, 1, most, true);
        if (strips == 1) break;
    }
    return best_;
}

bool StripTiler::has_whole_rows() const {
    const int64_t bytes = shape_.inner * least_size();
    return product_.has_byte_copies || shape_.length == 1 || bytes % device::kBlockBytes == 0;
}

bool StripTiler::may_pack() const {
    return shape_.inner == 1 || row_bytes() <= kMaxRowBytes;
}

int64_t StripTiler::row_bytes() const {
    if (shape_.inner % 8 == 0) return 0;
    const int64_t bytes = round_up(std::lcm<int64_t>(shape_.inner, 8), 16) * 16 * 4;
    return product_.arch == 100 ? 2 * bytes : bytes;
}

int64_t StripTiler::packed_pitch() const {
    if (shape_.inner == 1) return device::kEvenBytes / shape_.in_size;
    return round_up(kLeastPitch, std::lcm<int64_t>(shape_.inner, 8));
}

bool StripTiler::may_team() const {
    return product_.has_byte_copies || shape_.outer == 1 ||
           shape_.length * shape_.inner * shape_.out_size % device::kBlockBytes == 0;
}

int64_t StripTiler::unit_of(const SoftmaxBackwardTiling& t) const {
    return is_packed_ ? t.unit : int64_t{t.unit} * t.pitch;
}

int64_t StripTiler::received_floats(const SoftmaxBackwardTiling& t) const {
    const int64_t shared = shared_floats(t);
    if (t.slice > 0) return int64_t{t.parts} * t.slice;
    return std::min(t.parts * shared, std::max<int64_t>(kSoftmaxPartialFloats, shared));
}

int64_t StripTiler::fixed_bytes(const SoftmaxBackwardTiling& t, bool holds) const {
    const int64_t period = is_packed_ ? std::lcm<int64_t>(shape_.inner, 8) : 0;
    const int64_t slot = round_up(t.pitch + period, kSoftmaxSlotFloats);
    int64_t bytes = tail_bytes(product_) + (holds ? 2 : kLevels) * slot * 4;
    if (is_packed_) bytes += shape_.inner == 1 ? 3 * 256 * 4 : row_bytes();
    if (t.rows_apart > 0) bytes += round_up(t.pitch / 8, 32);
    if (t.parts > 1) bytes += received_floats(t) * 4;
    if (t.parts > 1 && !product_.has_core_barrier) bytes += product_.cores * 32;
    return bytes;
}

int64_t StripTiler::most_units(const SoftmaxBackwardTiling& t, int64_t buffers, bool holds) const {
    const int64_t room = product_.buffer_bytes - fixed_bytes(t, holds);
    const int64_t most = room / (unit_of(t) * shape_.chunk_bytes(buffers));
    return std::clamp<int64_t>(most, 0, device::kMaxPieces / (is_packed_ ? 1 : t.unit));
}

int64_t StripTiler::shift_of(int64_t width, int64_t unit) const {
    int64_t shift = 0;
    while (shift < unit && (shift * shape_.inner - width) * least_size() % device::kEvenBytes != 0)
        ++shift;
    return shift;
}

void StripTiler::try_strips(int64_t width, int64_t unit, int64_t parts, int64_t most,
                            bool rows_apart) {
    SoftmaxBackwardTiling t{};
    t.length = shape_.length;
    t.inner = shape_.inner;
    t.traversal = is_packed_ ? kSoftmaxPacked : kSoftmaxColumns;
    t.strips_per_plane = divide_up(shape_.inner, width);
    t.items = shape_.outer * t.strips_per_plane;
    t.parts = static_cast<uint32_t>(parts);
    t.width = static_cast<uint32_t>(width);
    t.pitch =
        static_cast<uint32_t>(is_packed_ ? packed_pitch() : round_up(width, 16) + 16 * rows_apart);
    t.rows_apart = rows_apart;
    t.unit = static_cast<uint32_t>(unit);
    if (!is_packed_ && unit > 1) {
        t.shift = static_cast<uint32_t>(shift_of(width, unit));
        if (t.shift == unit) return;
    }
    t.slice = slice_floats(t, product_);
    if (parts > all() / unit && parts > 1) return;
    const int64_t most_buffers = product_.arch == 100 ? 4 : kSoftmaxMaxQueued;  // events, tensors
    bool holds = false;
    for (int64_t chunks = 1; chunks <= most_buffers; ++chunks) {
        holds |= choose_teams(t, chunks, most_buffers, most);
    }
    if (!holds) choose_teams(t, 0, most_buffers, most);
}

int64_t StripTiler::part_of(const SoftmaxBackwardTiling& t) const {
    const bool leads = product_.has_byte_copies && (shape_.outer > 1 || t.shift > 0);
    return divide_up(divide_up(all() + (leads ? t.unit - 1 : 0), t.unit), t.parts);
}

bool StripTiler::choose_teams(SoftmaxBackwardTiling& t, int64_t chunks, int64_t most_buffers,
                              int64_t most) {
    const bool holds = chunks > 0;
    const int64_t part = part_of(t);
    int64_t buffers = most_buffers;
    int64_t tile = 0;
    if (holds) {
        tile = divide_up(part, chunks);
        if (divide_up(part, tile) < chunks) return false;
        const int64_t least = std::max<int64_t>(chunks, 2);
        // With more, a core's loads run ahead of its stores, and what is left to store at the end
        // overlaps with nothing.
        if (t.parts == 1 && product_.has_byte_copies) buffers = std::min(buffers, chunks + 2);
        while (buffers > least && most_units(t, buffers, true) < tile) --buffers;
        if (most_units(t, buffers, true) < tile) return false;
    } else {
        const int64_t units = most_units(t, buffers, false);
        if (units == 0) return false;
        tile = even_part(part, units);
        chunks = divide_up(part, tile);
    }
    t.tile = static_cast<uint32_t>(tile);
    t.input_buffers = static_cast<uint32_t>(buffers);
    t.chunks = static_cast<uint32_t>(chunks);
    t.buffer = static_cast<uint32_t>(t.tile * unit_of(t));
    set_groups(t);
    const int64_t parts = t.parts;
    const int64_t teams = best_blocks(t.groups * parts, most / parts * parts, product_) / parts;
    for (int64_t n = std::max<int64_t>(teams, 1); n >= 1 && n + 8 > teams; --n) consider(t, n);
    const int64_t most_teams = std::min<int64_t>(most / parts, t.groups);
    for (int64_t n = most_teams; n >= 1 && n * parts * 5 > most * 3; --n) consider(t, n);
    return true;
}

void StripTiler::set_groups(SoftmaxBackwardTiling& t) const {
    t.items_per_group = 1;
    if (!product_.has_byte_copies && t.parts == 1 && (is_packed_ || !has_whole_rows())) {
        // Strips whose rows may meet in a block are one core's. Rows, or a plane's last chunk,
        // shorter than a block take the scalar unit, which stores lines of 64 bytes.
        const int64_t last = plane() - int64_t{t.chunks - 1} * t.buffer;  // packed
        const bool is_short = !is_packed_ || last * shape_.out_size < device::kBlockBytes;
        const int64_t unit_bytes = is_short ? 64 : device::kBlockBytes;
        const int64_t planes =
            unit_bytes / std::gcd<int64_t>(plane() * shape_.out_size, unit_bytes);
        t.items_per_group = planes * t.strips_per_plane;
    }
    t.groups = divide_up(t.items, t.items_per_group);
}

void StripTiler::consider(const SoftmaxBackwardTiling& t, int64_t teams) {
    const double time = cycles(t, teams);
    if (time < best_.cycles) best_ = {time, t, teams * t.parts};
}

bool tile_strips(const Shape& shape, const device::Product& product, SoftmaxBackwardTiling& tiling,
                 uint32_t& blocks) {
    const StripTiler::Choice choice = best_of(shape, product);
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
