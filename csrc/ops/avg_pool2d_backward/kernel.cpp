#include "ops/avg_pool2d_backward/along_channels.h"
#include "ops/avg_pool2d_backward/along_planes.h"
#include "ops/avg_pool2d_backward/along_width.h"
#include "ops/avg_pool2d_backward/around_elements.h"
#include "ops/avg_pool2d_backward/fill.h"
#include "ops/avg_pool2d_backward/held_rows.h"
#include "ops/avg_pool2d_backward/op.h"
#include "ops/avg_pool2d_backward/picked_planes.h"
#include "ops/avg_pool2d_backward/staged_gradient.h"
#include "ops/avg_pool2d_backward/tiled_columns.h"
#include "ops/avg_pool2d_backward/window_by_window.h"

namespace ascend_grad {
namespace {

template <class T>
struct AvgPool2dBackwardKernel {
    using Op = AvgPool2dBackward;

    static void run(const Op::Plan& plan, void* const* addresses, bool streaming, int64_t begin,
                    int64_t end) {
        switch (plan.traversal) {
            case Op::Traversal::kFill:
                return run_tiles<PoolFill<T>>(plan, addresses, streaming, begin, end);
            case Op::Traversal::kAlongChannels:
                return run_tiles<PoolAlongChannels<T>>(plan, addresses, streaming, begin, end);
            case Op::Traversal::kTiledColumns:
                return run_planes<PoolTiledColumns<T>>(plan, addresses, streaming, begin, end);
            case Op::Traversal::kPickedPlanes:
                return run_tiles<PoolPickedPlanes<T>>(plan, addresses, streaming, begin, end);
            case Op::Traversal::kAroundElements:
                return sums_whole_vectors(plan)
                           ? run_planes<PoolAroundElements<T>>(plan, addresses, streaming, begin,
                                                               end)
                           : run_planes<PoolAlongPlanes<T>>(plan, addresses, streaming, begin, end);
            case Op::Traversal::kHeldRows:
                return run_planes<PoolHeldRows<T>>(plan, addresses, streaming, begin, end);
            case Op::Traversal::kAlongWidth:
                return pool_scratch::keeps_rows(plan)
                           ? run_planes<PoolAlongWidth<T>>(plan, addresses, streaming, begin, end)
                           : run_tiles<PoolWindowByWindow<T>>(plan, addresses, streaming, begin,
                                                              end);
        }
    }

    static constexpr Op::Kernels kernels() { return {run}; }

  private:
    // Of windows around elements, whether rows are summed in whole vectors, or along planes.
    // Measured: where a vector is a register; where rows fill seven eighths of their vectors, but
    // on the baseline of x86-64; and where they are too long for the latter.
    static bool sums_whole_vectors(const Op::Plan& plan) {
        const int64_t columns = plan.width.extent;
        const bool fills = !kIsCompact && columns * 8 >= round_up(columns, kLanes) * 7;
        return kRegisters == 1 || fills ||
               columns > PoolAlongPlanes<T>::most_columns(plan.width.pad);
    }
    // Of a gradient that tasks make dense, or as it lies.
    template <class Tile>
    static void run_planes(const Op::Plan& plan, void* const* addresses, bool streaming,
                           int64_t begin, int64_t end) {
        if (plan.staged_channels == 0)
            return run_tiles<Tile>(plan, addresses, streaming, begin, end);
        StagedGradient<T> gradient(plan, addresses);
        run_tiles<Tile>(plan, addresses, streaming, begin, end,
                        [&](Tile& tile) { gradient.stage(tile); });
    }
    template <class Tile>
    static void run_tiles(const Op::Plan& plan, void* const* addresses, bool streaming,
                          int64_t begin, int64_t end) {
        run_tiles<Tile>(plan, addresses, streaming, begin, end, [](Tile&) {});
    }
    template <class Tile, class Prepare>
    static void run_tiles(const Op::Plan& plan, void* const* addresses, bool streaming,
                          int64_t begin, int64_t end, const Prepare& prepare) {
        Tile tile(plan, addresses, streaming);
        for (int64_t task = begin; task < end; ++task) {
            tile.select(task);
            prepare(tile);
            tile.run();
        }
        if (streaming) stream_fence();
    }
};

}  // namespace

const AvgPool2dBackward::Kernels KERNELS::avg_pool2d_backward[kKernelDtypes] =
    OF_EACH_DTYPE(AvgPool2dBackwardKernel);

}  // namespace ascend_grad
