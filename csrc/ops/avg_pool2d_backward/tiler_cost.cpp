// The rough count of cycles by which tilings are compared.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/integers.h"
#include "ops/avg_pool2d_backward/tiler.h"

namespace ascend_grad {

using device::kBlockBytes, device::kCopyCycles, device::kEvenBytes, device::kPieceCycles,
    device::kSharedRate, device::kUnevenRate;

namespace {

// Sliding sums of so many terms, each made of those of half as many: additions, and by how many
// steps more than there are results these are longer together.
struct Doublings {
    uint32_t additions = 0, longer = 0;

    explicit Doublings(uint32_t terms) {
        for (uint32_t more = 0; terms > 1; terms /= 2) {
            additions += 1 + terms % 2;
            longer += (1 + terms % 2) * more;
            more += terms / 2;
        }
    }
};

constexpr double kInstruction = 16;      // what one takes to start
constexpr int64_t kRepeatRows = 8;       // of which a repeat may take a block each
constexpr int64_t kNearPositions = 127;  // that neighbouring repeats may be apart

// For sums of so many terms; from four on with sums of two, where there is room for these.
uint32_t additions(uint32_t terms) {
    return terms < 4 ? std::max(terms - 1, 1u) : terms / 2 + terms % 2;
}

// As kernels_ascendc/avg_pool2d_backward/dense.h: instructions for what sliding sums get wrong at
// both ends of an axis, or for all of a short one.
struct DenseAxis {
    bool is_short;
    double ends;

    DenseAxis(int64_t extent, int64_t pad) {
        const int64_t more = extent - (2 * pad + 1);
        is_short = pad > 0 && more <= 2;
        const int64_t all = more == 2 ? 6 * pad : 4 * pad - 1 + more;
        ends = static_cast<double>(pad == 0 ? 0 : is_short ? all : 4 * pad - 2);
    }
};

// As kernels_ascendc/avg_pool2d_backward/place.h chooses: columns of `rows` rows `pitch` apart.
double placing_cycles(int64_t columns, int64_t rows, int64_t pitch) {
    constexpr int64_t kBlocks = 2;  // of a position
    const auto number = [](int64_t value) { return static_cast<double>(value); };
    const double parts = number(divide_up(columns, int64_t{kPoolRepeatPositions}));
    const double along = number(rows) * (kInstruction + parts);
    if (pitch > kNearPositions) return along;
    const double down = parts * (kInstruction + number(rows));
    const double group = kInstruction + number(columns * kBlocks);
    double least = std::min({along, down, number(divide_up(rows, kRepeatRows)) * group});
    if (pitch * kRepeatRows <= kNearPositions && rows >= 2 * kRepeatRows)
        least = std::min(least,
                         number(columns * kBlocks) * (kInstruction + number(rows / kRepeatRows)) +
                             (rows % kRepeatRows != 0 ? group : 0.0));
    return least;
}

}  // namespace

double PoolTiler::cycles(const Choice& c) const {
    if (c.traversal == kPoolColumns) return cycles_by_columns(c);
    constexpr double kLoadCycles = 20, kStoreCycles = 90, kScalarCycles = 14;
    const auto plane = static_cast<double>(t_.height * t_.width);
    const auto grad_plane = static_cast<double>(t_.grad_height * t_.grad_width);
    const double row = static_cast<double>(c.lanes * bytes_);  // bytes of an element

    // Of a group of planes.
    double loads = 1.0 / static_cast<double>(c.lane_planes), stores = loads;
    if (c.traversal == kPoolParts) {
        loads = static_cast<double>(divide_up(t_.grad_height, c.load) * t_.tiles_width);
        stores = static_cast<double>(divide_up(t_.height, c.height) * t_.tiles_width);
    } else if (c.traversal == kPoolRows) {
        loads = std::max(grad_plane / t_.load_elements, 1.0);
        stores = static_cast<double>(t_.height) / static_cast<double>(c.height);
        if (is_tall(c)) {
            // A load completes so many planes or one more, which tiles share evenly.
            loads = grad_plane / t_.load_elements;
            const double planes = std::floor(1 / loads), more = 1 / loads - planes;
            stores = loads * ((1 - more) * std::ceil(planes * stores) +
                              more * std::ceil((planes + 1) * stores));
        } else if (t_.dense != 0) {
            loads = std::ceil(loads);
            // Planes shorter than a load count as one: alone they take longer than this counts.
            stores = loads * static_cast<double>(divide_up(divide_up(c.load, t_.width), c.height));
        }
    }
    // What copies take longer as some begin unevenly: all, or those at the begin of a plane.
    const auto slow = [&](int64_t elements) {
        if (is_tall(c)) return 1.0;
        const int64_t bytes = c.lanes * c.lane_planes * elements * bytes_;
        double share = 1.0 - static_cast<double>(std::gcd(bytes, kEvenBytes)) / kEvenBytes;
        if (c.traversal == kPoolParts) share = 1.0;
        if (c.traversal == kPoolRows && elements > 3 * even())
            share *= 0.5 * static_cast<double>(even()) / static_cast<double>(elements);
        return 1.0 + (1 / kUnevenRate - 1) * share;
    };
    const double bytes = row * (plane * slow(t_.height * t_.width) +
                                grad_plane * slow(t_.grad_height * t_.grad_width));
    // While a store starts a load may use the memory.
    const bool is_packed =
        c.traversal == kPoolPlanes && c.lane_planes * t_.height * t_.width % kLanes == 0;
    const double store_cycles =
        (is_packed ? kCopyCycles : kStoreCycles) * plane / (plane + grad_plane);
    const double memory = bytes / kSharedRate + loads * kLoadCycles + stores * store_cycles;
    double divided = has_one_divisor() ? 0.0 : static_cast<double>(t_.grad_height);
    if (t_.divisor_planes > 0) divided = 1.0 / t_.divisor_planes;
    const double instructions = (c.traversal == kPoolPlanes && product_.has_byte_copies
                                     ? plane_instructions(loads)
                                     : loads * (12 + 2 * t_.cover_width) + stores * 12) +
                                divided;
    double vector = t_.dense != 0 ? dense_cycles(c, loads, stores)
                                  : vector_cycles() + kInstruction * instructions;
    // Rows that wait for the next load are moved.
    const int64_t waiting = t_.cover_height - 1 + (is_tall(c) ? t_.height / 2 : 0);
    if (c.traversal == kPoolRows)
        vector += loads * static_cast<double>(waiting * t_.width) / kPoolRepeatPositions;
    double groups = static_cast<double>(divide_up(t_.units, useful_cores_)) *
                    static_cast<double>(t_.unit_tiles * t_.unit_planes) /
                    static_cast<double>(t_.tiles_height * t_.tiles_width);
    if (is_tall(c)) groups /= kLanes;
    // The first load and the sums of the first and the last tile overlap with nothing. Dense ones
    // begin with a short load.
    const double loading = t_.load_elements * row / kSharedRate;
    double alone = loading + (memory > vector ? 1 : 2) * vector / stores;
    if (t_.dense != 0) alone = 0.3 * loading + vector / stores / 2;
    // Inside windows both cores take these, and where no block begins the first store is not even.
    if (c.unit > 0) {
        const double twice =
            c.unit % plan_.height.stride != 0 ? static_cast<double>(t_.grad_width) * row : 0.0;
        const bool in_block = c.unit * t_.width * bytes_ % kBlockBytes != 0;
        alone += (twice + (in_block ? 0.4 * t_.tile_elements * row : 0.0)) / kSharedRate;
    }
    // Without DataCopyPad what of a lane is no whole block is stored by the scalar unit.
    double scalar = 0.0;
    if (!product_.has_byte_copies &&
        c.lane_planes * t_.height * t_.width * bytes_ % kBlockBytes != 0)
        scalar = stores * static_cast<double>(kLanes * kBlockBytes / bytes_) * kScalarCycles;
    // One buffer to store from: the vector unit waits for stores.
    const double waits = c.store_buffers == 1 ? 0.3 * plane * row / kSharedRate : 0.0;
    return (std::max(memory, vector) + waits + scalar) * groups + alone;
}

// Instructions for a group of kPoolPlanes: columns of all that are loaded together, rows of
// these, or of each plane, or one row of all planes at a time.
double PoolTiler::plane_instructions(double loads) const {
    const auto sums = [](int64_t stride, int64_t kernel, uint32_t terms, int64_t parts) {
        return static_cast<double>(std::min(stride, kernel) * additions(terms) * parts);
    };
    const int64_t parts_across = t_.stride_width == 1 ? 1 : 2;
    const int64_t parts_down =
        t_.stride_height == 1 ? 1 : divide_up(divide_up(t_.height, t_.stride_height), kRepeatRows);
    const double columns = sums(t_.stride_width, t_.kernel_width, t_.cover_width, parts_across) +
                           static_cast<double>(t_.kernel_width - 1);
    double rows = sums(t_.stride_height, t_.kernel_height, t_.cover_height, parts_down);
    if (t_.apart_end == 0) {
        rows *= loads;
    } else if (t_.cover_height == 1 || t_.sum_rows * t_.width <= kNearPositions) {
        const int64_t planes = t_.cover_height == 1 ? 1 : divide_up(t_.lane_planes, kRepeatRows);
        const int64_t together = t_.height * std::max<int64_t>(t_.cover_height - 1, 1) * planes;
        rows = std::min(rows, loads * static_cast<double>(together));
    }
    return loads * (16 + columns) + rows;
}

// The same of kPoolColumns, where each row of a lane is transposed by itself.
double PoolTiler::cycles_by_columns(const Choice& c) const {
    const auto bytes = static_cast<double>(bytes_);
    const auto cores = static_cast<double>(useful_cores_);
    const double rows =
        std::ceil(static_cast<double>(t_.units) / cores) * static_cast<double>(t_.unit_height);
    const double windows = rows / static_cast<double>(t_.stride_height) + t_.cover_height;
    const double loads = windows / static_cast<double>(c.load);
    const double stores = rows / static_cast<double>(c.height);
    const auto copy = [&](double count, double copies, int64_t columns, int64_t together) {
        const bool is_even = together * columns * bytes_ % kEvenBytes == 0;
        return count * static_cast<double>(columns) * bytes / kSharedRate /
                   (is_even ? 1.0 : kUnevenRate) +
               count * kPieceCycles + copies * kCopyCycles;
    };
    const double loading = copy(windows, loads, t_.grad_width, c.load);
    const double memory = loading + copy(rows, stores, t_.width, c.height);
    const auto additions = [](uint32_t terms) { return std::max(terms - 1, 1u); };
    const double narrow = bytes_ == 2 ? 1.0 : 0.0;
    const double along = t_.lane_pitch * (0.5 + narrow + (t_.factor != 0.0f ? 1 : 2)) +
                         t_.tile_pitch * static_cast<double>(additions(t_.cover_width));
    const double down = t_.tile_pitch * (0.5 + narrow + additions(t_.cover_height));
    const double steps = static_cast<double>(std::min(t_.stride_width, t_.kernel_width));
    const double vector =
        (windows * along + rows * down) / kPoolRepeatPositions +
        kInstruction * (windows * 2 + rows * (2 - narrow) +
                        loads * (8 + 2 * steps * additions(t_.cover_width)) +
                        stores * (8 + static_cast<double>(std::min(t_.stride_height, c.height)) *
                                          additions(t_.cover_height)));
    const double waits = c.store_buffers == 1 ? 0.3 * memory : 0.0;
    return std::max(memory, vector) + waits + loading / loads + 2 * vector / stores;
}

// Of a group, for the elements alone.
double PoolTiler::vector_cycles() const {
    const auto grads = static_cast<double>(t_.grad_height * t_.grad_width);
    const auto rows = static_cast<double>(t_.grad_height * t_.width);
    const auto all = static_cast<double>(t_.height * t_.width);
    const double transposed = bytes_ == 2 ? 1.5 : 1.0;
    const bool has_pairs = t_.tile_positions >= pairs_begin() + pair_positions();
    const uint32_t along_width =
        has_pairs ? additions(t_.cover_width) : std::max(t_.cover_width - 1, 1u);
    // Columns at both ends of a row have less windows, and instructions of their own.
    const auto ends = static_cast<double>(t_.grad_height * (t_.cover_width - 1));
    return ends + (grads * (transposed + (t_.factor != 0.0f ? 1 : 2)) + rows * along_width +
                   all * (transposed + additions(t_.cover_height))) /
                      kPoolRepeatPositions;
}

// The same of dense windows, with what instructions take to start.
double PoolTiler::dense_cycles(const Choice& c, double loads, double stores) const {
    const auto height = static_cast<double>(t_.height), width = static_cast<double>(t_.width);
    const DenseAxis along(t_.width, t_.pad_width), down(t_.height, is_tall(c) ? t_.pad_height : 0);
    const Doublings row(along.is_short ? 1 : t_.cover_width);
    const Doublings column(down.is_short ? 1 : t_.cover_height);
    const double copied = t_.cover_height == 1 ? 1 : 0;  // instead of added up
    const double sums = copied + column.additions + row.additions;
    const double transposed = bytes_ == 2 ? 1.5 : 1.0;
    const double divided = t_.factor != 0.0f ? 1 : 2;
    double instructions = loads * 4 + stores * (4 + sums);
    if (!has_one_divisor()) instructions += is_tall(c) ? loads + 1.0 / t_.divisor_planes : height;
    double count = height * width / kPoolRepeatPositions * (2 * transposed + 1 + divided + sums);
    count += stores * column.longer * std::ceil(width / kPoolRepeatPositions);
    const auto rows = is_tall(c) ? static_cast<int64_t>(height / stores) : c.height;
    count += stores * along.ends * placing_cycles(1, rows, t_.width);
    count += stores * down.ends * placing_cycles(t_.width, rows / t_.height, t_.height * t_.width);
    return count + kInstruction * instructions;
}

}  // namespace ascend_grad
