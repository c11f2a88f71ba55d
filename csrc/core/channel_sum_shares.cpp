// How threads share the tasks of a ChannelSumPlan.
#include <algorithm>

#include "core/channel_sum.h"

namespace ascend_grad {
namespace {

// Where a block is rows, with `tiles` tasks each: the task that begins so many units of work, a row
// of a tile each, behind the first one, or next to there.
int64_t task_behind(const ChannelSumPlan& plan, int64_t tiles, int64_t units) {
    const int64_t rows_before = (plan.blocks - 1) * plan.rows_per_block;
    const int64_t before = rows_before * tiles;
    const auto nearest = [](int64_t n, int64_t rows) { return (n + rows / 2) / rows; };
    return units < before
               ? nearest(units, plan.rows_per_block)
               : (plan.blocks - 1) * tiles + nearest(units - before, plan.rows - rows_before);
}
int64_t units_before(const ChannelSumPlan& plan, int64_t tiles, int64_t task) {
    const int64_t last = (plan.blocks - 1) * tiles;  // tasks before those of the last block
    const int64_t rows_before = (plan.blocks - 1) * plan.rows_per_block;
    return std::min(task, last) * plan.rows_per_block +
           std::max<int64_t>(0, task - last) * (plan.rows - rows_before);
}

}  // namespace

bool shares_are_even(const ChannelSumPlan& plan, int64_t outer, int64_t tiles, int threads,
                     double uneven) {
    if (plan.chunks_per_row != 1 || plan.rows % plan.rows_per_block == 0)
        return are_even(outer * tiles, threads, uneven);
    const int64_t units = plan.rows * tiles;
    const double most = uneven * static_cast<double>(units) / threads;
    int64_t begin = 0;
    for (int64_t i = 1; i <= threads; ++i) {
        const int64_t task = task_behind(plan, tiles, share_begin(units, threads, i));
        const int64_t end = units_before(plan, tiles, task);
        if (static_cast<double>(end - begin) > most) return false;
        begin = end;
    }
    return true;
}

int64_t work_units(const ChannelSumPlan& plan) {
    return plan.chunks_per_row == 1 ? plan.rows * plan.channel_tiles : plan.tasks;
}

int64_t task_at(const ChannelSumPlan& plan, int64_t unit) {
    return plan.chunks_per_row == 1 ? task_behind(plan, plan.channel_tiles, unit) : unit;
}

}  // namespace ascend_grad
