// What cores have of grad_input, run by run, and load of grad_output, by the kernel's own code: as
// many elements as there are, none outside a plane, and loads of the core's planes.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "ascendc_emulator.h"
#include "avg_pool2d_backward/loads.h"
#include "device/product.h"
#include "hard_pool.h"

using namespace ascend_grad;
using Op = AvgPool2dBackward;

namespace {

struct Case {
    const PoolShape& shape;
    AvgPool2dBackwardTiling t;

    void require(bool fact, const char* rule, int64_t value) const {
        if (fact) return;
        std::printf("%s: %lld\n  %lld planes of %lld x %lld, traversal %u\n", rule,
                    (long long)value, (long long)shape.planes, (long long)shape.height,
                    (long long)shape.width, t.traversal);
        std::exit(1);
    }
};

// What one core has.
struct Core {
    int64_t elements = 0, loads = 0;
    int64_t first = -1, end = 0;  // planes
};

template <typename T>
struct Runs : kernels::PoolGeometry<T> {
    using Base = kernels::PoolGeometry<T>;
    explicit Runs(const AvgPool2dBackwardTiling& tiling) : Base(tiling) {}

    Core walk(const Case& c) {
        Core core;
        while (this->next_run()) {
            // Of tall lanes the rows of each plane, else those of the run.
            const bool is_single = c.t.traversal == kPoolColumns;
            const int64_t most = this->planes_ * (is_single ? 1 : c.t.lanes);
            const int64_t planes =
                this->is_tall() ? this->run_planes_ : std::min(this->run_planes_, most);
            const int64_t rows = this->is_tall() ? c.t.height : this->run_.end - this->run_.begin;
            const int64_t columns = this->columns_.end - this->columns_.begin;
            c.require(planes > 0 && rows > 0 && columns > 0, "a run without elements", planes);
            c.require(this->is_tall() || (this->run_.begin >= 0 && this->run_.end <= c.t.height),
                      "rows", this->run_.begin);
            c.require(this->columns_.begin >= 0 && this->columns_.end <= c.t.width, "columns",
                      this->columns_.begin);
            c.require(this->first_plane_ >= core.first, "planes in order", this->first_plane_);
            if (core.first < 0) core.first = this->first_plane_;
            core.end = this->first_plane_ + planes;
            core.elements += planes * rows * columns;
        }
        return core;
    }
};

// Loads are of the core's planes.
template <typename T>
void check_loads(const Case& c, Core& core) {
    kernels::PoolLoads<T> loads(c.t);
    const int64_t plane = c.t.grad_height * c.t.grad_width;
    kernels::LanesShape shape;
    while (loads.next(shape)) {
        const int64_t lanes = shape.lanes;
        int64_t length = shape.columns;
        if (shape.rows > 1) length += (shape.rows - 1) * static_cast<int64_t>(shape.row_stride);
        const int64_t offset = static_cast<int64_t>(shape.offset);
        const int64_t stride = static_cast<int64_t>(shape.lane_stride);
        c.require(lanes + (shape.rest > 0) >= 1 && lanes <= 16, "lanes of a load", lanes);
        // Behind the last whole lane, and the short one behind that.
        const int64_t whole = lanes > 0 ? offset + (lanes - 1) * stride + length : 0;
        const int64_t rest = shape.rest > 0 ? offset + lanes * stride + shape.rest : 0;
        c.require(offset >= core.first * plane && std::max(whole, rest) <= core.end * plane,
                  "a load of other planes", offset);
        ++core.loads;
    }
}

template <typename T>
void check(const Case& c, uint32_t blocks) {
    std::vector<Core> cores(blocks);
    ascendc_emulator::launch(__CCE_AICORE__, "walk", blocks, [&] {
        Core& core = cores[AscendC::GetBlockIdx()];
        core = Runs<T>(c.t).walk(c);
        if (c.t.traversal != kPoolDirect) check_loads<T>(c, core);
    });
    int64_t elements = 0, loads = 0, end = 0;
    for (const Core& core : cores) {
        c.require(core.first <= end, "planes that no core has", core.first);
        end = core.end;
        elements += core.elements;
        loads += core.loads;
    }
    const int64_t all = c.t.planes * c.t.height * c.t.width;
    c.require(end == c.t.planes, "planes", end);
    c.require(elements == all, "elements", elements);
    c.require(loads > 0 || c.t.traversal == kPoolDirect, "loads", loads);
}

}  // namespace

int main() {
    const Soc soc = __CCE_AICORE__ == 100 ? Soc::kAscend910 : Soc::kAscend910B;
    const device::Product product = device::product_of(soc, 0);
    int checked = 0;
    for (const PoolShape& shape : kHardPool) {
        for (const DataType dtype : {DataType::kFloat32, DataType::kFloat16}) {
            PoolCall call(shape, dtype);
            call.args.soc = soc;
            call.args.cube_math_type = 1;
            device::Plan plan;
            if (!Op::device_plan(call.args, product, plan).ok()) std::abort();
            const Case c{shape, plan.launches[0].get_tiling<AvgPool2dBackwardTiling>()};
            if (c.t.traversal == kPoolFill) continue;
            const uint32_t blocks = plan.launches[0].blocks;
            dtype == DataType::kFloat32 ? check<float>(c, blocks) : check<half>(c, blocks);
            ++checked;
        }
    }
    std::printf("%d tilings\n", checked);
    return checked > 20 ? 0 : 1;
}
