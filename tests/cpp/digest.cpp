// Runs every operator over many shapes, dtypes and layouts on inputs from an integer formula and
// prints one hash per case. Equal output on two machines, instruction sets or thread counts means
// equal bits. Arguments: threads dtype
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/executor.h"
#include "core/parallel.h"
#include "core/processor.h"
#include "core/scalar.h"
#include "isa/environment.h"
#include "ops/ops.h"

namespace {

using namespace ascend_grad;

using Shape = std::vector<int64_t>;

// kReversedInputs: results are contiguous. kSwapped: the last two axes are.
enum class Layout {
    kContiguous,
    kChannelsLast,
    kReversed,
    kEverySecond,
    kReversedInputs,
    kSwapped
};
constexpr Layout kLayouts[] = {Layout::kContiguous,  Layout::kChannelsLast,   Layout::kReversed,
                               Layout::kEverySecond, Layout::kReversedInputs, Layout::kSwapped};
constexpr DataType kDtypes[] = {DataType::kFloat32, DataType::kFloat16, DataType::kBFloat16};

float read_element(DataType dtype, const char* p) {
    switch (dtype) {
        case DataType::kFloat16:
            return read_as<Float16>(p);
        case DataType::kBFloat16:
            return read_as<BFloat16>(p);
        default:
            return read_as<float>(p);
    }
}
void write_element(DataType dtype, char* p, float x) {
    switch (dtype) {
        case DataType::kFloat16:
            return write_as<Float16>(p, x);
        case DataType::kBFloat16:
            return write_as<BFloat16>(p, x);
        default:
            return write_as<float>(p, x);
    }
}

class Tensor {
  public:
    Tensor(DataType dtype, const Shape& shape, Layout layout, uint32_t seed,
           bool is_result = false) {
        const int rank = static_cast<int>(shape.size());
        const int64_t size = static_cast<int64_t>(data_type_size(dtype));
        view.dtype = dtype;
        set_contiguous(view, rank, shape.data());
        view.format = rank == 3 ? Format::kNCL : rank == 4 ? Format::kNCHW : Format::kND;
        std::vector<int> order;  // axes, outermost in memory first
        for (int i = 0; i < rank; ++i) order.push_back(i);
        if (layout == Layout::kReversed || (layout == Layout::kReversedInputs && !is_result))
            std::reverse(order.begin(), order.end());
        if (layout == Layout::kSwapped && rank >= 2) std::swap(order[rank - 2], order[rank - 1]);
        if (layout == Layout::kChannelsLast && rank >= 2) {
            order.erase(order.begin() + 1);
            order.push_back(1);
        }
        int64_t stride = layout == Layout::kEverySecond ? 2 * size : size;
        for (int i = rank - 1; i >= 0; --i) {
            view.strides[order[i]] = stride;
            stride *= shape[order[i]];
        }
        memory_.assign(static_cast<size_t>(stride + 2 * kLine), 0);
        view.data = memory_.data() + (-reinterpret_cast<intptr_t>(memory_.data()) & (kLine - 1));
        uint32_t state = seed;
        for_each([&](int64_t i, int64_t offset) {
            state = state * 1664525u + 1013904223u;
            write_element(dtype, element(offset), value_of(state, i));
        });
    }
    // Nothing that a result should have.
    void spoil() { std::fill(memory_.begin(), memory_.end(), char{0x5a}); }
    // Hashes logical elements, so that layouts can be compared with each other.
    uint64_t hash(uint64_t hash = 0xcbf29ce484222325u) const {
        for_each([&](int64_t, int64_t offset) {
            hash = (hash ^ float_bits(read_element(view.dtype, element(offset)))) * 0x100000001b3u;
        });
        return hash;
    }

    TensorView view;

  private:
    char* element(int64_t offset) const { return static_cast<char*>(view.data) + offset; }

    static constexpr intptr_t kLine = 64;  // bytes of a cache line, with which memory begins

    // Mostly in [-2, 2); now and then something special.
    static float value_of(uint32_t state, int64_t index) {
        const uint32_t special = state >> 7 & 2047u;
        if (special == 0) return -0.0f;
        if (special == 1) return 1e-40f;
        if (special == 2 && index % 5 == 0) return float_from_bits(0x7f800000u);
        if (special == 3 && index % 5 == 0) return float_from_bits(0xffc12345u);
        return (static_cast<float>(state >> 8) - 8388608.0f) / 4194304.0f;
    }
    int64_t offset(int64_t index) const {
        int64_t result = 0;
        for (int i = view.rank - 1; i >= 0; --i) {
            result += index % view.shape[i] * view.strides[i];
            index /= view.shape[i];
        }
        return result;
    }
    // f(index, offset in bytes) of each element.
    template <class F>
    void for_each(const F& f) const {
        const int64_t row = view.shape[view.rank - 1], stride = view.strides[view.rank - 1];
        for (int64_t begin = 0; begin < view.numel; begin += row) {
            const int64_t at = offset(begin);
            for (int64_t i = 0; i < row; ++i) f(begin + i, at + i * stride);
        }
    }
    std::vector<char> memory_;
};

// The processor that calls are made on, as plans see it.
enum class Place { kHere, kStreaming, kAsking, kNeither };
constexpr Place kElsewhere[] = {Place::kStreaming, Place::kAsking, Place::kNeither};

// Of others nothing is in a cache. Every result that may bypass the caches does, or none; what the
// processor decides of asking for memory is asked for, or not.
Processor processor_at(Place place) {
    static const Processor here = processor();
    if (place == Place::kHere) return here;
    constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
    Processor other{};
    other.streams_beside_arithmetic = true;
    if (place != Place::kStreaming)
        other.streamed_bytes = other.early_bytes = other.kept_bytes = kNever;
    if (place != Place::kNeither) {
        other.along_memory = other.far_along_memory = true;
        other.into_second = !here.into_second;
        other.next_plane = NextPlane::kFromMemory;
        other.reads_next_row = !here.reads_next_row;
        other.divides_by_row = true;
    }
    return other;
}

template <class Op>
void run(const typename Op::Args& args, Place place) {
    set_processor(processor_at(place));
    Executor executor;
    const Status status = make_executor<Op>(args, executor);
    if (!status.ok()) {
        std::fprintf(stderr, "%s\n", status.message().c_str());
        std::exit(1);
    }
    std::vector<double> workspace(executor.workspace_size / sizeof(double) + 1);
    executor.run(workspace.data());
}

std::string text_of(const Shape& shape) {
    std::string text;
    for (int64_t extent : shape) text += (text.empty() ? "" : "x") + std::to_string(extent);
    return text;
}

// One line per case; a layout whose hash differs from the contiguous one's fails the program.
class Report {
  public:
    void add(const std::string& name, Layout layout, const std::function<uint64_t(Place)>& run) {
        const uint64_t hash = run(Place::kHere);
        for (Place place : kElsewhere) {
            if (run(place) == hash) continue;
            std::printf("%s: bits differ at place %d\n", name.c_str(), static_cast<int>(place));
            failed_ = true;
        }
        if (layout == Layout::kContiguous) {
            expected_ = hash;
            std::printf("%s %016" PRIx64 "\n", name.c_str(), hash);
        } else if (hash != expected_) {
            std::printf("%s: layout %d differs: %016" PRIx64 "\n", name.c_str(),
                        static_cast<int>(layout), hash);
            failed_ = true;
        }
    }
    int exit_code() const { return failed_ ? 1 : 0; }

  private:
    uint64_t expected_ = 0;
    bool failed_ = false;
};

void batch_norm(Report& report, DataType dtype, Layout layout, const Shape& shape) {
    using Op = BatchNormReduceBackward;
    const Shape channels = {shape[1]};
    Tensor grad(dtype, shape, layout, 1), input(dtype, shape, layout, 2);
    Tensor mean(DataType::kFloat32, channels, Layout::kContiguous, 3),
        invstd(dtype, channels, layout, 4);
    Tensor sum_dy(dtype, channels, layout, 5), sum_dy_xmu(DataType::kFloat32, channels, layout, 6);
    Tensor grad_weight(DataType::kFloat32, channels, layout, 7),
        grad_bias(DataType::kBFloat16, channels, layout, 8);
    Op::Args args;
    Tensor* tensors[] = {&grad,   &input,      &mean,        &invstd,   nullptr,
                         &sum_dy, &sum_dy_xmu, &grad_weight, &grad_bias};
    for (int i = 0; i < 9; ++i)
        args.tensors[i] = tensors[i] != nullptr ? &tensors[i]->view : nullptr;
    report.add(
        std::string("batch_norm_reduce_backward ") + data_type_name(dtype) + " " + text_of(shape),
        layout, [&](Place place) {
            for (Tensor* result : {&sum_dy, &sum_dy_xmu, &grad_weight, &grad_bias}) result->spoil();
            run<Op>(args, place);
            return grad_bias.hash(grad_weight.hash(sum_dy_xmu.hash(sum_dy.hash())));
        });
}

void prelu(Report& report, DataType dtype, Layout layout, const Shape& shape, int64_t weights) {
    using Op = PreluBackward;
    Tensor grad(dtype, shape, layout, 1), self(dtype, shape, layout, 2),
        weight(dtype, {weights}, layout, 3);
    Tensor grad_input(dtype, shape, layout, 4, true), grad_weight(dtype, {weights}, layout, 5);
    Op::Args args;
    const Tensor* tensors[] = {&grad, &self, &weight, &grad_input, &grad_weight};
    for (int i = 0; i < 5; ++i) args.tensors[i] = &tensors[i]->view;
    report.add(std::string("prelu_backward ") + data_type_name(dtype) + " " + text_of(shape) +
                   " weights " + std::to_string(weights),
               layout, [&](Place place) {
                   grad_input.spoil();
                   grad_weight.spoil();
                   run<Op>(args, place);
                   return grad_weight.hash(grad_input.hash());
               });
}

void softmax(Report& report, DataType dtype, Layout layout, const Shape& shape, int64_t dim) {
    using Op = SoftmaxBackward;
    const DataType out_dtype = dim % 2 == 0 ? dtype : DataType::kBFloat16;
    Tensor grad(dtype, shape, layout, 1), output(dtype, shape, layout, 2),
        out(out_dtype, shape, layout, 3, true);
    Op::Args args;
    args.dim = dim;
    const Tensor* tensors[] = {&grad, &output, &out};
    for (int i = 0; i < 3; ++i) args.tensors[i] = &tensors[i]->view;
    report.add(std::string("softmax_backward ") + data_type_name(dtype) + " " + text_of(shape) +
                   " dim " + std::to_string(dim),
               layout, [&](Place place) {
                   out.spoil();
                   run<Op>(args, place);
                   return out.hash();
               });
}

struct Pool {
    Shape shape;
    int64_t kernel, stride, pad;
    bool ceil_mode, count_include_pad;
    int64_t divisor, cube_math_type;
};

void avg_pool(Report& report, DataType dtype, Layout layout, const Pool& pool) {
    using Op = AvgPool2dBackward;
    Shape output = pool.shape;
    for (size_t axis : {output.size() - 2, output.size() - 1}) {
        output[axis] = pool_output_extent(pool.shape[axis], pool.kernel, pool.stride, pool.pad,
                                          pool.ceil_mode);
    }
    Tensor grad(dtype, output, layout, 1), self(dtype, pool.shape, layout, 2),
        grad_input(dtype, pool.shape, layout, 3, true);
    const IntArray kernel{&pool.kernel, 1}, stride{&pool.stride, 1}, padding{&pool.pad, 1};
    Op::Args args;
    const Tensor* tensors[] = {&grad, &self, &grad_input};
    for (int i = 0; i < 3; ++i) args.tensors[i] = &tensors[i]->view;
    args.kernel_size = &kernel;
    args.stride = &stride;
    args.padding = &padding;
    args.ceil_mode = pool.ceil_mode;
    args.count_include_pad = pool.count_include_pad;
    args.divisor_override = pool.divisor;
    args.cube_math_type = pool.cube_math_type;
    report.add(std::string("avg_pool2d_backward ") + data_type_name(dtype) + " " +
                   text_of(pool.shape) + " k" + std::to_string(pool.kernel) + " s" +
                   std::to_string(pool.stride) + " p" + std::to_string(pool.pad) + " mode " +
                   std::to_string(pool.cube_math_type),
               layout, [&](Place place) {
                   grad_input.spoil();
                   run<Op>(args, place);
                   return grad_input.hash();
               });
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: digest THREADS DTYPE\n");
        return 2;
    }
    constexpr int kSkipped = 77;
    if (!environment().error.empty()) {
        std::fprintf(stderr, "%s\n", environment().error.c_str());
        return kSkipped;
    }
    set_thread_limit(std::atoi(argv[1]));
    const std::vector<Shape> shapes = {
        {4, 2},        {1, 1},       {3, 17, 1},     {2, 3, 7, 7},     {33, 5, 15},
        {20, 24, 16},  {5, 40, 49},  {2, 130, 300},  {3, 2, 50, 60},   {2100, 3},
        {70, 33},      {1, 9, 5000}, {2, 70, 17, 3}, {3, 64, 17, 7},   {34, 2, 61, 67},
        {17, 3, 4200}, {1, 33},      {16, 170},      {40, 128},        {5, 64, 3},
        {20, 1070},    {1, 1100},    {300, 230},     {150, 20, 9},     {400, 3, 7},
        {32, 5, 1056}, {1, 90, 700}, {2, 47, 430},   {12, 20, 14, 14}, {11, 20, 14, 14}};
    const std::vector<Pool> pools = {{{2, 3, 8, 8}, 2, 2, 0, false, true, 0, 0},
                                     {{1, 20, 11, 13}, 3, 2, 1, false, true, 0, 0},
                                     {{2, 17, 9, 10}, 3, 2, 1, true, false, 0, 3},
                                     {{2, 9, 14, 40}, 5, 1, 2, false, false, 0, 1},
                                     {{2, 9, 13, 17}, 3, 1, 1, false, false, 0, 0},
                                     {{3, 40, 7, 7}, 7, 7, 0, false, true, 0, 2},
                                     {{2, 8, 30, 33}, 2, 3, 0, false, true, -3, 0},
                                     {{1, 2, 60, 70}, 40, 2, 7, true, true, 0, 0},
                                     {{5, 20, 600}, 4, 3, 2, true, false, 0, 0},
                                     {{3, 40, 28, 36}, 2, 2, 0, false, true, 0, 2},
                                     {{2, 9, 12, 70}, 2, 2, 0, false, true, -3, 3},
                                     {{2, 3, 13, 100}, 3, 3, 0, false, true, 0, 0},
                                     {{3, 5, 15, 21}, 5, 5, 0, false, true, -7, 2},
                                     {{1, 2, 18, 1030}, 4, 4, 0, true, true, 5, 0},
                                     {{3, 20, 45, 14}, 3, 3, 0, false, true, 0, 2},
                                     {{2, 17, 13, 13}, 2, 2, 1, false, true, 0, 0},
                                     {{4, 9, 9, 24}, 4, 5, 0, false, true, 0, 3},
                                     {{2, 5, 27, 30}, 3, 2, 1, false, false, 0, 0},
                                     {{1, 3, 18, 61}, 3, 2, 0, true, true, 0, 0},
                                     {{3, 7, 19, 15}, 3, 1, 1, false, true, -3, 0},
                                     {{2, 3, 18, 30}, 5, 1, 2, false, false, 0, 0},
                                     {{1, 5, 40, 62}, 3, 1, 1, false, false, 0, 0},
                                     {{2, 3, 21, 37}, 5, 1, 2, false, true, 4, 0},
                                     {{2, 3, 21, 50}, 5, 1, 2, false, false, 0, 0},
                                     {{2, 3, 1, 50}, 5, 1, 2, false, true, 0, 0},
                                     {{2, 3, 9, 40}, 3, 1, 1, false, false, 0, 0},
                                     {{2, 3, 9, 60}, 5, 1, 2, false, true, -3, 0}};
    Report report;
    for (DataType dtype : kDtypes) {
        if (std::strcmp(data_type_name(dtype), argv[2]) != 0) continue;
        for (const Shape& shape : shapes) {
            for (Layout layout : kLayouts) batch_norm(report, dtype, layout, shape);
            for (Layout layout : kLayouts) prelu(report, dtype, layout, shape, 1);
            for (Layout layout : kLayouts) prelu(report, dtype, layout, shape, shape[1]);
            for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim) {
                for (Layout layout : kLayouts) softmax(report, dtype, layout, shape, dim);
            }
        }
        for (Layout layout : kLayouts) softmax(report, dtype, layout, {2, 70000}, 1);
        for (const Pool& pool : pools) {
            for (Layout layout : kLayouts) avg_pool(report, dtype, layout, pool);
        }
    }
    return report.exit_code();
}
