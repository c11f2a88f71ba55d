// How plans share work among threads: evenly, and by no more threads than can write one run of
// memory without getting in each other's way.
#include <algorithm>
#include <random>

#include "core/channel_sum.h"
#include "core/processor.h"
#include "require.h"

using namespace ascend_grad;

namespace {

void test_runs() {
    Processor server{};
    server.written_part_bytes = 1000;
    server.near_bytes = 50000;
    set_processor(server);
    require(threads_for_written_runs(999, 50000) == 1, "a part is too small for two");
    require(threads_for_written_runs(3999, 50000) == 3, "three parts are large enough");
    require(threads_for_written_runs(1, 50001) == kAnyThreads, "what is far away is shared");
}

// Rows of a tile of channels that a task takes.
int64_t rows_of(const ChannelSumPlan& plan, int64_t task) {
    const int64_t first = task / plan.channel_tiles * plan.rows_per_block;
    return std::min(plan.rows_per_block, plan.rows - first);
}

// Batch normalisation whose blocks have several rows: 16 images of 14x14, whose last block has one
// row where others have five, and random ones.
void test_shares(int64_t images, int64_t channels, int64_t height, int threads) {
    set_thread_limit(threads);
    TensorView view;
    view.dtype = DataType::kFloat32;
    const int64_t shape[] = {images, channels, height, height};
    set_contiguous(view, 4, shape);
    const TensorView* const views[] = {&view, &view};
    ChannelSumPlan plan{};
    plan_channel_sum(plan, views, 2, 2);
    require(plan.chunks_per_row == 1, "blocks have whole rows");

    const int64_t units = work_units(plan);
    const int used = static_cast<int>(std::min({int64_t{threads}, plan.tasks, plan.most_threads}));
    int64_t most = 0, task = 0;
    for (int i = 0; i < used; ++i) {
        const int64_t end = task_at(plan, share_begin(units, used, i + 1));
        int64_t rows = 0;
        for (; task < end; ++task) rows += rows_of(plan, task);
        most = std::max(most, rows);
    }
    require(task == plan.tasks, "threads take all tasks");
    // Of tiles of a few channels, or of tasks that move 256 KiB at most, a share may be uneven.
    const int64_t of_channel = plan.rows_per_block * plan.row_length * 2 * int64_t{sizeof(float)};
    const bool is_least = (plan.channel_tile - 1) * of_channel < (int64_t{256} << 10);
    require(is_least || static_cast<double>(most * used) <= 1.1 * static_cast<double>(units),
            "a thread's share is at most 1.1 times the mean");
    require(!is_least || most <= units / used + plan.rows_per_block,
            "a thread's share is at most a block above the mean");
}

}  // namespace

int main() {
    const Processor here = processor();
    test_runs();
    set_processor(here);
    test_shares(16, 256, 14, 2);
    std::mt19937 random(1);
    const auto any = [&](int64_t from, int64_t to) {
        return from + static_cast<int64_t>(random() % static_cast<uint64_t>(to - from + 1));
    };
    for (int i = 0; i < 2000; ++i)
        test_shares(any(1, 100), any(1, 600), any(4, 22), static_cast<int>(any(1, 16)));
}
