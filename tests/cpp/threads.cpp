// How plans share work among threads: evenly, and by no more threads than can write one run of
// memory without getting in each other's way.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "core/channel_sum.h"
#include "core/parallel.h"
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

struct Case {
    int64_t images, channels, height;
    int threads;

    void require(bool fact, const char* rule) const {
        if (fact) return;
        std::printf("%lldx%lldx%lldx%lld, %d threads: %s\n", (long long)images, (long long)channels,
                    (long long)height, (long long)height, threads, rule);
        std::exit(1);
    }
};

// Batch normalisation whose blocks have several rows, the last one perhaps fewer.
void test_shares(const Case& c) {
    set_thread_limit(c.threads);
    TensorView view;
    view.dtype = DataType::kFloat32;
    const int64_t shape[] = {c.images, c.channels, c.height, c.height};
    set_contiguous(view, 4, shape);
    const TensorView* const views[] = {&view, &view};
    ChannelSumPlan plan{};
    plan_channel_sum(plan, views, 2, 2);
    c.require(plan.chunks_per_row == 1, "blocks do not have whole rows");
    const int64_t of_block = plan.rows_per_block, most_rows = kSharedSumBlock / plan.row_length;
    c.require(of_block == 1 || of_block <= most_rows, "a block has too many elements");
    c.require(plan.blocks == divide_up(plan.rows, of_block), "blocks are not all rows");
    for (int64_t n = std::min(most_rows, plan.rows); n > most_rows / 2; --n) {
        c.require(plan.rows % n != 0 || plan.rows % of_block == 0,
                  "blocks are not equal, though they could be");
    }

    constexpr int64_t kElementBytes = 2 * sizeof(float);
    const int64_t units = work_units(plan);
    const int64_t threads =
        std::min<int64_t>({threads_for(view.numel * kElementBytes), plan.tasks, plan.most_threads});
    int64_t most = 0, task = 0;
    for (int64_t i = 0; i < threads; ++i) {
        const int64_t end = task_at(plan, share_begin(units, threads, i + 1));
        int64_t rows = 0;
        for (; task < end; ++task) rows += rows_of(plan, task);
        most = std::max(most, rows);
    }
    c.require(task == plan.tasks, "threads do not take all tasks");
    // Tasks that move 256 KiB are not made smaller.
    const int64_t of_channel = plan.rows_per_block * plan.row_length * kElementBytes;
    const bool is_least = (plan.channel_tile - 1) * of_channel < (int64_t{256} << 10);
    const double mean = static_cast<double>(units) / static_cast<double>(threads);
    c.require(is_least || static_cast<double>(most) <= 1.1 * mean,
              "a thread's share is more than 1.1 times the mean");
}

}  // namespace

int main() {
    const Processor here = processor();
    test_runs();
    set_processor(here);
    for (int64_t images : {11, 16, 17}) test_shares({images, 256, 14, 2});
    std::mt19937 random(1);
    const auto any = [&](int64_t from, int64_t to) {
        return from + static_cast<int64_t>(random() % static_cast<uint64_t>(to - from + 1));
    };
    for (int i = 0; i < 2000; ++i) {
        Case c;
        c.images = any(1, 100);
        c.channels = any(1, 600);
        c.height = any(4, 22);
        c.threads = static_cast<int>(any(1, 16));
        test_shares(c);
    }
}
