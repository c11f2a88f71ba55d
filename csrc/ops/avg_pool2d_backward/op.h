// AvgPool2dBackward: gradient of 2-D average pooling with respect to its input.
//
//   grad_input[.., h, w] = SUM over the windows (i, j) that cover (h, w) of grad_output[.., i, j] /
//   d(i, j)
//
// d is divisor_override where that is not 0, else the number of elements of the window inside the
// padded input (count_include_pad) or inside the input. Quotients are float and added in a fixed
// order: over i for each j, then over j. cube_math_type changes float32 tensors only: the gradient
// is first rounded to float16 or HF32.
#pragma once

#include "core/layout.h"
#include "core/operator.h"
#include "core/panels.h"
#include "device/plan.h"
#include "isa/levels.h"

namespace ascend_grad {

struct IntArray {
    const int64_t* values = nullptr;
    int64_t size = 0;
    int64_t at(int i) const { return size == 1 ? values[0] : values[i]; }
};

// The windows along one axis: window i covers [max(i * stride - pad, 0), min(i * stride - pad +
// kernel, extent)).
struct PoolAxis {
    int64_t extent;  // of grad_input
    int64_t kernel, stride, pad;
    int64_t windows;  // that reach the input; later ones contribute nothing

    // Whether one window covers all elements.
    bool lies_in_one_window() const { return windows == 1 && kernel - pad >= extent; }
    // Elements of window i that count for the divisor. Inlined even without optimisation:
    // instruction set levels must not share it.
    __attribute__((always_inline)) int64_t counted(int64_t i, bool count_include_pad) const {
        const int64_t begin = i * stride - pad, rest = extent - begin;
        if (count_include_pad) return kernel < rest + pad ? kernel : rest + pad;
        return (rest < kernel ? rest : kernel) + (begin < 0 ? begin : 0);
    }
};

struct AvgPool2dBackward {
    enum Tensor : int { kGradOutput, kSelf, kGradInput };
    static constexpr int kFirstOutput = kGradInput;

    struct Args : Arguments {
        const IntArray* kernel_size = nullptr;
        const IntArray* stride = nullptr;  // null or empty: the kernel
        const IntArray* padding = nullptr;
        bool ceil_mode = false;
        bool count_include_pad = true;
        int64_t divisor_override = 0;
        int64_t cube_math_type = 0;

        const IntArray& strides() const {
            return stride != nullptr && stride->size > 0 ? *stride : *kernel_size;
        }
        // Any rank but 3 takes NCHW, so that the rule on ranks answers.
        static Format untagged(int rank) { return rank == 3 ? Format::kNCL : Format::kNCHW; }
    };

    // Arithmetic of float32 tensors.
    enum class Mode : int32_t { kFloat32, kFloat16, kHf32 };

    enum class Traversal : int32_t {
        kAlongWidth,     // one plane at a time, row by row
        kAlongChannels,  // channels are contiguous in grad_output, or are made so
        kFill,          // one window covers whole contiguous planes: grad_input is constant in each
        kTiledColumns,  // as along width: windows side by side
        kPickedPlanes,  // as along width, across the ends of short rows: windows apart
        kAroundElements,  // as along width, short rows under a window around each element
        kHeldRows,        // as along width, short rows under windows two apart: in registers
    };

    struct Plan {
        uint64_t workspace_size;
        bool is_empty;
        DataType dtype;
        Mode mode;
        Traversal traversal;
        bool transposes;  // kAlongChannels: results are held, and transposed or scattered to
                          // grad_input
        bool holds_rows;  // kAlongChannels: rows are streamed as one, not channels
        int64_t pixel;    // kAlongWidth: planes whose elements take turns along rows; else 1
        bool gathers;     // kAlongChannels: all planes are the channels, side by side in scratch
        // Not 0: channels of a grad_output in which they are last, of which tasks make dense planes
        // in scratch. The other fields then describe these planes.
        int64_t staged_channels;
        int64_t staged_item, staged_row;  // bytes from one of grad_output's to the next
        PoolAxis height, width;
        bool count_include_pad;
        float divisor;  // the constant one, or 0 where it varies
        Loops planes;   // over (n, c); operands grad_output, grad_input
        // kAlongChannels: the innermost loop, taken out of `planes` unless these are gathered.
        int64_t channels, channel_stride[2];
        int64_t height_stride[2], width_stride[2];  // bytes; grad_output, grad_input
        int64_t channel_tile, channel_tiles;
        int64_t width_tile, width_tiles;    // columns of grad_input per task
        int64_t height_tile, height_tiles;  // rows
        int64_t rows_together;              // that are transposed at a time
        int64_t plane_count, planes_per_task, tasks;
        int64_t most_threads;  // that had better share these
        bool streaming_fits;
        int64_t bytes;        // that the call moves
        uintptr_t prefetch;   // rows of quotients: how many bytes ahead grad_output is asked for
        bool divides_by_row;  // kAroundElements: where it can, long rows when they are needed
        // If any: these are the tasks, and what kernels use is the plan of a dense one.
        Panels panels;

        // Whether every operand is read and written where it lies.
        bool is_direct() const { return staged_channels == 0 && !transposes && !gathers; }
    };

    struct Kernels {
        void (*run)(const Plan& plan, void* const* addresses, bool streaming, int64_t begin,
                    int64_t end);
    };

    static const OperatorInfo& info();
    // Dtype and shape of an output that the caller leaves to us; inputs are not null but may be
    // invalid.
    static TensorView describe_output(const Args& args, int output);
    static Status check(const Args& args);
    static Plan plan(const Args& args);
    // Without panels.
    static Plan direct_plan(const Args& args);
    static void run(const Plan& plan, void* const* addresses, void* workspace);
    // The same call on an Ascend device.
    static Status device_plan(const Args& args, const device::Product& product, device::Plan& plan);
};

// By kernel_index().
OF_EACH_LEVEL(extern const AvgPool2dBackward::Kernels avg_pool2d_backward[kKernelDtypes])

// Extent of grad_output along one axis by the forward's rule.
int64_t pool_output_extent(int64_t extent, int64_t kernel, int64_t stride, int64_t pad,
                           bool ceil_mode);

}  // namespace ascend_grad
