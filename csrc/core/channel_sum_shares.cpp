// How threads share the tasks of a ChannelSumPlan.
#include <algorithm>

#include "core/channel_sum.h"
#include "core/integers.h"

namespace ascend_grad {
namespace {

// Where a block is rows: work units are rows of a tile of channels, tasks blocks of these.
struct RowTasks {
    int64_t tasks;  // before those of the last block, which may have fewer rows
    int64_t units;  // of those
    int64_t rows;   // of a block
    int64_t last_rows;

    RowTasks(const ChannelSumPlan& plan, int64_t tiles) : rows(plan.rows_per_block) {
        const int64_t blocks = divide_up(plan.rows, rows) - 1;
        tasks = blocks * tiles;
        units = tasks * rows;
        last_rows = plan.rows - blocks * rows;
    }
    // The task that begins so many units behind the first one, or next to there.
    int64_t task_behind(int64_t n) const {
        const auto nearest = [](int64_t rows_behind, int64_t of) {
            return (rows_behind + of / 2) / of;
        };
        return n < units ? nearest(n, rows) : tasks + nearest(n - units, last_rows);
    }
    int64_t units_before(int64_t task) const {
        return std::min(task, tasks) * rows + std::max<int64_t>(0, task - tasks) * last_rows;
    }
};

}  // namespace

bool shares_are_even(const ChannelSumPlan& plan, int64_t outer, int64_t tiles, int threads,
                     double uneven) {
    if (threads == 1) return true;
    if (plan.chunks_per_row != 1 || plan.rows % plan.rows_per_block == 0)
        return are_even(outer * tiles, threads, uneven);
    const RowTasks of(plan, tiles);
    const int64_t units = plan.rows * tiles;
    const double most = uneven * static_cast<double>(units) / threads;
    int64_t begin = 0;
    for (int64_t i = 1; i <= threads; ++i) {
        const int64_t task = of.task_behind(share_begin(units, threads, i));
        const int64_t end = of.units_before(task);
        if (static_cast<double>(end - begin) > most) return false;
        begin = end;
    }
    return true;
}

int64_t work_units(const ChannelSumPlan& plan) {
    return plan.chunks_per_row == 1 ? plan.rows * plan.channel_tiles : plan.tasks;
}

int64_t task_at(const ChannelSumPlan& plan, int64_t unit) {
    return plan.chunks_per_row == 1 ? RowTasks(plan, plan.channel_tiles).task_behind(unit) : unit;
}

}  // namespace ascend_grad
