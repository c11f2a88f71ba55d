// What plans make of the processor they are for, on any machine.
#include "core/channel_sum.h"
#include "core/processor.h"
#include "ops/softmax_backward/op.h"
#include "require.h"

using namespace ascend_grad;

namespace {

// A matrix that begins with a cache line; its columns follow each other in memory where it is
// transposed.
TensorView matrix(int64_t rows, int64_t columns, bool is_transposed,
                  DataType dtype = DataType::kFloat32) {
    TensorView view;
    view.dtype = dtype;
    const int64_t shape[] = {rows, columns};
    set_contiguous(view, 2, shape);
    view.data = reinterpret_cast<void*>(uintptr_t{64} << 20);
    if (!is_transposed) return view;
    view.strides[0] = data_type_size(dtype);
    view.strides[1] = rows * data_type_size(dtype);
    return view;
}

// Of rows that lie one after the other, results that lie across them.
bool has_panels(int64_t rows, int64_t columns) {
    const TensorView in = matrix(rows, columns, false), out = matrix(rows, columns, true);
    SoftmaxBackward::Args args;
    args.tensors[SoftmaxBackward::kGradOutput] = &in;
    args.tensors[SoftmaxBackward::kOutput] = &in;
    args.tensors[SoftmaxBackward::kOut] = &out;
    args.dim = 1;
    return SoftmaxBackward::plan(args).panels.count > 0;
}

void test_transposed_results() {
    Processor processor{};
    processor.streamed_bytes = processor.early_bytes = int64_t{24} << 20;
    for (const bool copies : {false, true}) {
        processor.copies_transposed = copies;
        set_processor(processor);
        require(has_panels(1000, 1000), "results that stay in the caches go by panels");
        require(has_panels(4096, 1024) == copies, "streamed ones do where that pays");
        require(has_panels(256, 40000) == copies, "of neighbours of 1 KiB, too");
        require(!has_panels(255, 40000), "few neighbours are streamed");
        require(has_panels(200000, 33) == copies, "of rows of 33 elements, too");
        require(!has_panels(200000, 32), "short rows are streamed");
    }
}

int64_t position_group(int64_t positions, int64_t channels, int operands,
                       DataType dtype = DataType::kFloat32) {
    const TensorView view = matrix(positions, channels, false, dtype);
    const TensorView* const views[] = {&view, &view, &view};
    ChannelSumPlan plan{};
    plan_channel_sum(plan, views, operands, 1);
    require(plan.traversal == Traversal::kAlongChannels, "channels are neighbours");
    return plan.position_group;
}

// Where hardware foresees loads along memory by itself.
void test_positions_of_a_run() {
    Processor processor{};
    processor.cached_bytes = int64_t{14} << 20;
    set_processor(processor);
    for (const int64_t channels : {1024, 512, 256}) {
        const auto group = [&](int operands, DataType dtype) {
            return position_group((int64_t{8} << 20) / channels, channels, operands, dtype);
        };
        for (const DataType dtype : {DataType::kFloat32, DataType::kFloat16}) {
            require(group(3, dtype) == kSumLanes, "results are written in order");
            require(group(2, dtype) == kPositionGroup, "sums alone are made together");
        }
    }
    require(position_group(100, 1024, 3) == kPositionGroup, "in a cache results are, too");
}

}  // namespace

int main() {
    set_thread_limit(1);
    test_transposed_results();
    test_positions_of_a_run();
}
