// SoftmaxBackward: gradient of softmax with respect to its input.
//
//   s   = SUM over dim of grad_output * output        (dim kept)
//   out = output * (grad_output - s)
//
// Inputs are widened to float. A row, the elements along dim, is cut into chunks
// (core/sum_block.h): element i of a chunk goes to lane i % 16, lanes (float) are added by a fixed
// tree and chunks (double) in order. The result is rounded once to out's dtype.
#pragma once

#include "core/layout.h"
#include "core/operator.h"
#include "core/panels.h"
#include "core/sum_block.h"
#include "device/plan.h"
#include "isa/levels.h"

namespace ascend_grad {

struct SoftmaxBackward {
    enum Tensor : int { kGradOutput, kOutput, kOut };
    static constexpr int kFirstOutput = kOut;

    struct Args : Arguments {
        int64_t dim = 0;

        bool is_empty() const {
            return tensors[kGradOutput]->is_empty() || tensors[kOutput]->is_empty();
        }
        // dim, counted from the first one; a scalar has one.
        int axis() const {
            const int rank = tensors[kGradOutput]->rank;
            return static_cast<int>(dim < 0 ? dim + (rank > 1 ? rank : 1) : dim);
        }
    };

    enum class Traversal : int32_t {
        kAlongRows,      // elements of a row are contiguous, or every second one of the inputs
        kAcrossRows,     // equal elements of neighbouring rows are contiguous in every tensor
        kAlongToAcross,  // along rows in the inputs, across them in the result
        kAcrossToAlong,  // the reverse
        kStaged,         // none of these, or double or the other 16 bit: in tiles made dense
    };

    static constexpr int64_t kMaxColumns = 2048;     // rows of a group, but along rows
    static constexpr int64_t kMostCollected = 1024;  // columns of a transposed result
    // Elements of a small plane, at most; kWidePlane where it has kWideColumns columns or more.
    static constexpr int64_t kSmallPlane = 512, kWidePlane = 1024, kWideColumns = 32;
    static constexpr int64_t kShortRow = 512;  // bytes; shorter ones are written several at a time
    static constexpr int64_t kChunksPerTask = kTaskElements / kSumBlock;  // of split rows
    // Columns of a staged tile, at most, with as many elements each.
    static constexpr int64_t kStagedColumns = kStagedElements / kSumLanes;

    // Planes of which many are taken at once; where results are converted, those that have no
    // kernel. Where there are few rows, sums of many elements would leave most lanes without work.
    static constexpr bool is_small_plane(int64_t length, int64_t columns, bool converts = false) {
        const int64_t most = columns >= kWideColumns && !converts ? kWidePlane : kSmallPlane;
        return length <= most / columns && (length <= 16 || columns >= 8);
    }

    // A task works on a group of neighbouring rows: the innermost loop of `rows` cut into groups.
    struct Plan {
        uint64_t workspace_size;
        bool is_empty;
        DataType dtype, out_dtype;
        Traversal traversal;
        int64_t length;  // elements of a row
        int64_t stride[3];
        int32_t step;   // kAlongRows: elements between neighbours in the inputs
        bool is_plane;  // kAcrossRows: the rows of a group fill memory without a gap
        // kAcrossRows: groups write whole cache lines, and therefore elements of up to as many rows
        // after their own; 0: only their own.
        int32_t rows_beyond;
        // Rows fill memory without a gap, so that after the last one's element, in the same line,
        // comes the first one's next. Not if split: sums of rows are looked up by their place then.
        bool wraps;
        bool by_columns;        // kAcrossRows: few elements, columns are summed in registers
        bool has_small_planes;  // and the groups: see is_small_plane()
        Loops rows;             // count >= 1
        int64_t rows_per_group, groups_per_loop, groups;
        bool stages_along;  // kStaged: a tile is made of rows, else of planes, or lines of one
        int64_t groups_per_tile;  // that are whole planes
        int64_t chunk, chunks;
        // With few long rows, tasks are chunks: one pass leaves their sums in the workspace,
        // another writes.
        bool split;
        int64_t tasks;
        int64_t most_threads;   // that had better share these, unless split
        bool reads_next_row;    // kAlongRows: while it writes one, also from a cache
        bool asks;              // kAlongRows: for loads to come; of planes, for the next one
        bool asks_for_rows;     // kAlongRows past the caches: for the rows after the one written
        bool asks_for_stores;   // kAlongRows, rows by themselves: for lines that will be written
        bool asks_into_second;  // kAcrossRows and short rows: for them, into the second cache
        bool streaming_fits;
        bool is_buffered;      // and then results go by way of a buffer
        bool rows_fill_lines;  // kAlongRows: whole cache lines of the result
        bool collects;         // past the caches: what is transposed is made whole lines first
        int64_t bytes;         // that the call moves
        // If any: these are the tasks, and what kernels use is the plan of a dense one, or
        // panel_plan() of each.
        Panels panels;

        // Whether every operand is read and written where it lies.
        bool is_direct() const { return traversal != Traversal::kStaged; }
    };

    struct Kernels {
        // Both passes over task groups [begin, end).
        void (*whole)(const Plan& plan, void* const* addresses, bool streaming, int64_t begin,
                      int64_t end);
        // Split: chunk sums of tasks [begin, end), then the outputs.
        void (*sum_chunks)(const Plan& plan, void* const* addresses, float* partials, int64_t begin,
                           int64_t end);
        void (*write_chunks)(const Plan& plan, void* const* addresses, const float* partials,
                             bool streaming, int64_t begin, int64_t end);
    };

    static const OperatorInfo& info();
    // Dtype and shape of an output that the caller leaves to us; inputs are not null but may be
    // invalid.
    static TensorView describe_output(const Args& args, int output);
    static Status check(const Args& args);
    static Plan plan(const Args& args);
    // Without panels.
    static Plan direct_plan(const Args& args);
    // Of one panel of a call whose panels are not all copied.
    static Plan panel_plan(const Plan& call, int64_t panel);
    static void run(const Plan& plan, void* const* addresses, void* workspace);
    // Of arguments that check() accepts.
    static Status device_plan(const Args& args, const device::Product& product, device::Plan& plan);
};

// By kernel_index().
OF_EACH_LEVEL(extern const SoftmaxBackward::Kernels softmax_backward[kKernelDtypes])

}  // namespace ascend_grad
