#pragma once

#include "ops/avg_pool2d_backward/along_channels.h"
#include "ops/avg_pool2d_backward/along_planes.h"
#include "ops/avg_pool2d_backward/along_width.h"
#include "ops/avg_pool2d_backward/doubled_columns.h"
#include "ops/avg_pool2d_backward/fill.h"
#include "ops/avg_pool2d_backward/staged_gradient.h"
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
            case Op::Traversal::kDoubledColumns:
                return run_tiles<PoolDoubledColumns<T>>(plan, addresses, streaming, begin, end);
            case Op::Traversal::kAlongPlanes:
                return run_tiles<PoolAlongPlanes<T>>(plan, addresses, streaming, begin, end);
            case Op::Traversal::kAlongWidth:
                return pool_scratch::keeps_rows(plan)
                           ? run_tiles<PoolAlongWidth<T>>(plan, addresses, streaming, begin, end)
                           : run_tiles<PoolWindowByWindow<T>>(plan, addresses, streaming, begin,
                                                              end);
        }
    }

    static constexpr Op::Kernels kernels() { return {run}; }

  private:
    template <class Tile>
    static void run_tiles(const Op::Plan& plan, void* const* addresses, bool streaming,
                          int64_t begin, int64_t end) {
        Tile tile(plan, addresses, streaming);
        if (plan.staged_channels > 0) {
            StagedGradient<T> gradient(plan, addresses);
            run_each(tile, begin, end, [&] { gradient.stage(tile); });
        } else {
            run_each(tile, begin, end, [] {});
        }
        if (streaming) stream_fence();
    }
    template <class Tile, class Prepare>
    static void run_each(Tile& tile, int64_t begin, int64_t end, const Prepare& prepare) {
        for (int64_t task = begin; task < end; ++task) {
            tile.select(task);
            prepare();
            tile.run();
        }
    }
};

}  // namespace
}  // namespace ascend_grad
