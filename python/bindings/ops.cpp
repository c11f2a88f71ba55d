// Python arguments to operator arguments, one class per operator; the rest is common.
#include "ops.h"

#include "call.h"

namespace ascend_grad::python {
namespace {

py::object* g_batch_norm_results = nullptr;
py::object* g_prelu_results = nullptr;

py::object first(py::object* results) {
    return results[0];
}
py::object batch_norm_results(py::object* r) {
    return (*g_batch_norm_results)(r[0], r[1], r[2], r[3]);
}
py::object prelu_results(py::object* r) {
    return (*g_prelu_results)(r[0], r[1]);
}

using Object = const py::object&;

// Fills a call from Python's arguments and hands it to `use`.
template <class Use>
auto with_batch_norm(Object grad_out, Object input, Object mean, Object invstd, Object weight,
                     Object input_g, Object weight_g, Object bias_g, Object sum_dy,
                     Object sum_dy_xmu, Object grad_weight, Object grad_bias, Object soc,
                     Object device, const Use& use) {
    using Op = BatchNormReduceBackward;
    Call<Op> call(soc, device);
    call.args.input_g = to_bool(input_g, call.name(), "input_g");
    call.args.weight_g = to_bool(weight_g, call.name(), "weight_g");
    call.args.bias_g = to_bool(bias_g, call.name(), "bias_g");
    const py::handle inputs[] = {grad_out, input, mean, invstd, weight};
    const py::handle outputs[] = {sum_dy, sum_dy_xmu, grad_weight, grad_bias};
    for (int i = 0; i < Op::kFirstOutput; ++i) call.set(i, inputs[i]);
    for (int i = 0; i < 4; ++i) {
        if (call.args.wants(Op::kFirstOutput + i)) call.set(Op::kFirstOutput + i, outputs[i]);
    }
    return use(call, batch_norm_results);
}

template <class Use>
auto with_avg_pool(Object grad_output, Object input, Object kernel_size, Object stride,
                   Object padding, Object ceil_mode, Object count_include_pad,
                   Object divisor_override, Object cube_math_type, Object grad_input, Object soc,
                   Object device, const Use& use) {
    using Op = AvgPool2dBackward;
    Call<Op> call(soc, device);
    call.set(Op::kGradOutput, grad_output);
    call.set(Op::kSelf, input);
    call.set(Op::kGradInput, grad_input);
    const IntArrayArgument kernel(kernel_size, call.name(), "kernel_size");
    const IntArrayArgument steps(stride, call.name(), "stride");
    const IntArrayArgument pads(padding, call.name(), "padding");
    call.args.kernel_size = kernel.get();
    call.args.stride = steps.get();
    call.args.padding = pads.get();
    call.args.ceil_mode = to_bool(ceil_mode, call.name(), "ceil_mode");
    call.args.count_include_pad = to_bool(count_include_pad, call.name(), "count_include_pad");
    call.args.divisor_override = to_int(divisor_override, call.name(), "divisor_override");
    call.args.cube_math_type = to_int(cube_math_type, call.name(), "cube_math_type");
    return use(call, first);
}

template <class Use>
auto with_prelu(Object grad_output, Object input, Object weight, Object grad_input,
                Object grad_weight, Object soc, Object device, const Use& use) {
    using Op = PreluBackward;
    Call<Op> call(soc, device);
    const py::handle tensors[] = {grad_output, input, weight, grad_input, grad_weight};
    for (int i = 0; i < 5; ++i) call.set(i, tensors[i]);
    return use(call, prelu_results);
}

template <class Use>
auto with_softmax(Object grad_output, Object output, Object dim, Object out, Object soc,
                  Object device, const Use& use) {
    using Op = SoftmaxBackward;
    Call<Op> call(soc, device);
    call.set(Op::kGradOutput, grad_output);
    call.set(Op::kOutput, output);
    call.set(Op::kOut, out);
    call.args.dim = to_int(dim, call.name(), "dim");
    return use(call, first);
}

constexpr auto run_now = [](auto& call, py::object (*combine)(py::object*)) -> py::object {
    py::object results[4];
    call.run(results);
    return combine(results);
};
constexpr auto prepare_only = [](auto& call, py::object (*combine)(py::object*)) {
    py::object results[4];
    return call.prepare(results, combine);
};

constexpr auto explain_only = [](auto& call, py::object (*)(py::object*)) -> py::object {
    return call.explain();
};

template <size_t>
using Argument = Object;

// Three functions of `arguments` positional parameters: run, prepare, explain.
template <size_t... I, class With>
void define(py::module_& m, const std::string& name, std::index_sequence<I...>, With with) {
    m.def(name.c_str(), [with](Argument<I>... a) { return with(a..., run_now); });
    m.def(("prepare_" + name).c_str(),
          [with](Argument<I>... a) { return with(a..., prepare_only); });
    m.def(("explain_" + name).c_str(),
          [with](Argument<I>... a) { return with(a..., explain_only); });
}

}  // namespace

void register_operators(py::module_& m) {
    define(m, "batch_norm_reduce_backward", std::make_index_sequence<14>(),
           [](const auto&... a) { return with_batch_norm(a...); });
    define(m, "avg_pool2d_backward", std::make_index_sequence<12>(),
           [](const auto&... a) { return with_avg_pool(a...); });
    define(m, "prelu_backward", std::make_index_sequence<7>(),
           [](const auto&... a) { return with_prelu(a...); });
    define(m, "softmax_backward", std::make_index_sequence<6>(),
           [](const auto&... a) { return with_softmax(a...); });
    m.def("set_result_types", [](Object batch_norm, Object prelu) {
        g_batch_norm_results = new py::object(batch_norm);
        g_prelu_results = new py::object(prelu);
    });
}

}  // namespace ascend_grad::python
