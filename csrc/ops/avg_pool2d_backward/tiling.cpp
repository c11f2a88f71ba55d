#include "ops/avg_pool2d_backward/tiling.h"

#include <algorithm>
#include <cmath>

#include "core/integers.h"
#include "device/planner.h"
#include "ops/avg_pool2d_backward/op.h"

namespace ascend_grad {

using Op = AvgPool2dBackward;
using Tiling = AvgPool2dBackwardTiling;

namespace {

constexpr int64_t kLanes = 16;
constexpr int64_t kPositionBytes = kLanes * sizeof(float);
constexpr int64_t kLeastCoreBytes = 16 << 10;  // that pay for starting another core

// Windows that cover one element, at most.
int64_t cover(const PoolAxis& axis) {
    const int64_t last = (axis.extent - 1 + axis.pad) / axis.stride;
    return std::min((axis.kernel - 1) / axis.stride, last) + 1;
}

// Windows whose begin lies among `size` neighbouring elements of a tile, at most.
int64_t begins(const PoolAxis& axis, int64_t size) {
    if (size >= axis.extent)
        return (axis.extent - 1 + axis.pad) / axis.stride - axis.pad / axis.stride + 1;
    return size % axis.stride == 0 ? size / axis.stride : (size - 1) / axis.stride + 2;
}

// The size of a tile.
struct Choice {
    int64_t lane_planes, height, width;
    uint32_t store_buffers;
    AvgPool2dBackwardTraversal traversal;
};

// What follows from it, in floating point where the numbers may be too large for anything.
struct Sizes {
    double table_rows, table_columns;
    double load_rows, grad_elements, tile_elements;
    double tables;  // of quotients and sums
};

class Tiler {
  public:
    Tiler(const Op::Plan& plan, Tiling& tiling, int64_t element_bytes,
          const device::Product& product)
        : plan_(plan), t_(tiling), bytes_(element_bytes), product_(product) {
        const int64_t elements = t_.height * t_.width + t_.grad_height * t_.grad_width;
        useful_cores_ = std::min<int64_t>(
            product.cores, divide_up(t_.planes * elements * bytes_, kLeastCoreBytes));
    }

    // The number of cores.
    uint32_t blocks() const { return static_cast<uint32_t>(std::min(useful_cores_, t_.units)); }

    void choose() {
        const PoolAxis &height = plan_.height, &width = plan_.width;
        const bool is_fill = covers_all(height) && covers_all(width);
        const auto traversal = is_fill ? kPoolFill : kPoolTable;
        for (int64_t columns = width.extent; best_cost_ == HUGE_VAL; columns = narrower(columns)) {
            for_each_height([&](int64_t rows) {
                for (uint32_t buffers : {1u, 2u}) consider({1, rows, columns, buffers, kPoolTable});
            });
            if (columns <= 1) break;
        }
        for (int64_t planes = 1; planes <= 64; planes *= 2) {
            for (uint32_t buffers : {1u, 2u})
                consider({planes, height.extent, width.extent, buffers, traversal});
        }
        if (best_cost_ == HUGE_VAL) choose_direct();
        set(best_);
    }

  private:
    static constexpr int64_t kDirectColumns = 128;  // windows of a load

    static bool covers_all(const PoolAxis& axis) {
        return axis.windows == 1 && axis.kernel - axis.pad >= axis.extent;
    }
    void choose_direct() {
        best_ = {1, std::min<int64_t>(plan_.height.extent, 16),
                 std::min<int64_t>(plan_.width.extent, 64), 1, kPoolDirect};
        while (buffer_bytes(best_) > product_.buffer_bytes && best_.height * best_.width > 1) {
            int64_t& side = best_.height > 1 ? best_.height : best_.width;
            side = divide_up(side, 2);
        }
    }
    template <class Consider>
    void for_each_height(const Consider& consider_rows) const {
        const PoolAxis& height = plan_.height;
        consider_rows(height.extent);
        for (int64_t k = std::min<int64_t>(64, height.extent / height.stride); k > 0; --k)
            consider_rows(k * height.stride);
        for (int64_t rows = std::min(height.stride, height.extent) / 2; rows > 0; rows /= 2)
            consider_rows(rows);
    }
    int64_t narrower(int64_t columns) const {
        const int64_t half = divide_up(columns, 2);
        const int64_t rounded = round_up(half, plan_.width.stride);
        return rounded < columns ? rounded : half;
    }

    Sizes sizes(const Choice& c) const {
        const PoolAxis &height = plan_.height, &width = plan_.width;
        const bool is_direct = c.traversal == kPoolDirect;
        const bool whole_rows = c.width >= width.extent;
        const auto planes = static_cast<double>(c.lane_planes);
        Sizes s;
        s.table_rows =
            is_direct ? 1 : static_cast<double>(begins(height, c.height) + cover(height) - 1);
        s.table_columns = is_direct
                              ? kDirectColumns
                              : static_cast<double>(begins(width, c.width) + cover(width) - 1);
        s.load_rows = is_direct ? 1 : static_cast<double>(begins(height, c.height));
        const double pitch =
            whole_rows && !is_direct
                ? static_cast<double>(t_.grad_width)
                : static_cast<double>(round_up(static_cast<int64_t>(s.table_columns), kLanes));
        const double rows =
            c.lane_planes > 1 ? planes * static_cast<double>(t_.grad_height) : s.load_rows;
        s.grad_elements = rounded(std::max(rows * pitch, 1.0));
        s.tile_elements =
            rounded(static_cast<double>(held(c)) +
                    planes * static_cast<double>(c.height) * static_cast<double>(tile_pitch(c)));
        s.tables = 1 + (cover(height) > 1) + (cover(width) > 2);
        return s;
    }
    static double rounded(double elements) { return std::ceil(elements / kLanes) * kLanes; }
    int64_t tile_pitch(const Choice& c) const {
        return c.width >= plan_.width.extent ? plan_.width.extent : round_up(c.width, kLanes);
    }
    // Positions of a lane's buffer that come before those of grad_output: what may wait for the
    // tile below, so that stores end at 512 bytes, and a tile that is summed up while more is
    // loaded.
    int64_t held(const Choice& c) const {
        const int64_t waiting = 512 / bytes_;
        if (c.traversal == kPoolDirect) return round_up(c.height * tile_pitch(c), kLanes) + waiting;
        const bool waits = c.height < plan_.height.extent && c.width >= plan_.width.extent;
        return waits ? waiting : 0;
    }

    double buffer_bytes(const Choice& c) const {
        const Sizes s = sizes(c);
        const bool narrow = bytes_ == 2;
        const double lanes =
            std::max(static_cast<double>(held(c)) + s.grad_elements, s.tile_elements);
        double bytes = kLanes * static_cast<double>(bytes_) *
                       (2 * s.grad_elements + c.store_buffers * s.tile_elements);
        bytes += kPositionBytes * lanes;
        if (narrow || plan_.mode == Op::Mode::kFloat16) bytes += kPositionBytes / 2 * lanes;
        if (!narrow && product_.arch == 100) bytes += kPositionBytes * lanes;
        bytes += kPositionBytes * s.tables * static_cast<double>(c.lane_planes) * s.table_rows *
                 s.table_columns;
        if (t_.factor == 0.0f) bytes += kPositionBytes * 3 * s.table_columns;
        if (plan_.mode == Op::Mode::kHf32) bytes += 8320;
        return bytes + 64;
    }

    void set(const Choice& c) {
        const PoolAxis &height = plan_.height, &width = plan_.width;
        const bool is_direct = c.traversal == kPoolDirect;
        const Sizes s = sizes(c);
        t_.traversal = c.traversal;
        t_.lane_planes = c.lane_planes;
        t_.tile_height = c.height;
        t_.tile_width = c.width;
        const auto phase = [](const PoolAxis& axis, int64_t size) {
            return size < axis.extent && size % axis.stride == 0 ? axis.pad % axis.stride : 0;
        };
        t_.phase_height = phase(height, c.height);
        t_.phase_width = phase(width, c.width);
        t_.tiles_height = divide_up(height.extent + t_.phase_height, c.height);
        t_.tiles_width = divide_up(width.extent + t_.phase_width, c.width);
        t_.cover_height = is_direct ? 1 : static_cast<uint32_t>(cover(height));
        t_.cover_width = is_direct ? 1 : static_cast<uint32_t>(cover(width));
        t_.store_buffers = c.store_buffers;
        const int64_t tiles = t_.tiles_height * t_.tiles_width;
        // Cores meet where both sides of the border are whole blocks of 32 bytes.
        t_.unit_tiles = product_.has_byte_copies ? 1 : tiles;
        t_.units = divide_up(t_.planes, kLanes * c.lane_planes) * tiles / t_.unit_tiles;
        t_.table_rows = static_cast<uint32_t>(s.table_rows);
        t_.table_columns = static_cast<uint32_t>(s.table_columns);
        t_.load_rows = static_cast<uint32_t>(s.load_rows);
        t_.grad_elements = static_cast<uint32_t>(s.grad_elements);
        t_.tile_elements = static_cast<uint32_t>(s.tile_elements);
        t_.tile_pitch = static_cast<uint32_t>(tile_pitch(c));
        t_.held_elements = static_cast<uint32_t>(held(c));
    }

    // Keeps the choice if it is the fastest so far, by a rough count of cycles.
    void consider(const Choice& c) {
        if (buffer_bytes(c) > product_.buffer_bytes) return;
        const int64_t plane = plan_.height.extent * plan_.width.extent;
        // Without DataCopyPad a store of less than a block is made by the scalar unit.
        const bool is_tiny = !product_.has_byte_copies && plane * bytes_ < 64;
        if (is_tiny && c.lane_planes % kLanes != 0) return;
        set(c);
        const double elements =
            static_cast<double>(c.lane_planes * kLanes * c.height) * static_cast<double>(c.width);
        const double ratio =
            1.0 + static_cast<double>(t_.grad_height * t_.grad_width) / static_cast<double>(plane);
        const bool is_aligned = t_.tiles_width == 1 &&
                                (held(c) > 0 || kLanes * c.lane_planes * plane * bytes_ % 512 == 0);
        constexpr double kBytesPerCycle = 18, kTileCycles = 400, kAlone = 0.7;
        double cost = elements * static_cast<double>(bytes_) * ratio / kBytesPerCycle /
                          (is_aligned ? 1.0 : 0.7) +
                      kTileCycles;
        if (c.store_buffers == 1) cost *= 1.05;
        // The first tile's load and the last one's sums overlap with nothing.
        const int64_t rounds = divide_up(t_.units, useful_cores_);
        cost *= static_cast<double>(rounds * t_.unit_tiles) + kAlone;
        if (cost < best_cost_) {
            best_cost_ = cost;
            best_ = c;
        }
    }

    const Op::Plan& plan_;
    Tiling& t_;
    const int64_t bytes_;
    const device::Product& product_;
    int64_t useful_cores_;
    Choice best_{};
    double best_cost_ = HUGE_VAL;
};

// What a quotient may be computed with instead of a division: for float32 only where the bits are
// the same.
float factor_of(float divisor, bool narrow) {
    if (divisor == 0.0f) return 0.0f;
    int exponent;
    const bool is_power = std::fabs(std::frexp(divisor, &exponent)) == 0.5f;
    return is_power || narrow ? 1.0f / divisor : 0.0f;
}

const char* kernel_name(DataType dtype) {
    return dtype == DataType::kFloat16    ? "avg_pool2d_backward_float16"
           : dtype == DataType::kBFloat16 ? "avg_pool2d_backward_bfloat16"
                                          : "avg_pool2d_backward_float32";
}

}  // namespace

Status Op::device_plan(const Args& args, const device::Product& product, device::Plan& device) {
    const Plan plan = Op::plan(args);
    if (plan.is_empty) return {};
    const TensorView& grad = *args.tensors[kGradOutput];
    const TensorView& grad_input = *args.tensors[kGradInput];
    const int rank = grad_input.rank;

    Tiling t{};
    t.planes = grad_input.numel / (plan.height.extent * plan.width.extent);
    t.height = plan.height.extent;
    t.width = plan.width.extent;
    t.grad_height = grad.shape[rank - 2];
    t.grad_width = grad.shape[rank - 1];
    t.windows_height = plan.height.windows;
    t.windows_width = plan.width.windows;
    t.kernel_height = plan.height.kernel;
    t.kernel_width = plan.width.kernel;
    t.stride_height = plan.height.stride;
    t.stride_width = plan.width.stride;
    t.pad_height = plan.height.pad;
    t.pad_width = plan.width.pad;
    t.count_include_pad = plan.count_include_pad;
    t.mode = static_cast<uint32_t>(plan.mode);
    t.divisor = plan.divisor;
    const auto element_bytes = static_cast<int64_t>(data_type_size(plan.dtype));
    t.factor = factor_of(plan.divisor, element_bytes == 2);

    device::Planner planner(info(), args, product, device);
    Tiler tiler(plan, t, element_bytes, product);
    tiler.choose();
    const device::AxisOrder order = device::natural_order(rank);
    const device::Pointer from = planner.input(kGradOutput, plan.dtype, order);
    const device::Pointer to = planner.output(kGradInput, plan.dtype, order);
    planner.launch(kernel_name(plan.dtype), tiler.blocks(), {from, to}, t);
    return planner.finish();
}

}  // namespace ascend_grad
