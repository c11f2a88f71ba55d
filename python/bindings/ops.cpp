// Python arguments to operator arguments, one function per operator of ops.def; the rest is common.
#include "ops.h"

#include <array>

#include "call.h"

namespace ascend_grad::python {
namespace {

// Classes of results, subclasses of tuple. Never destroyed: the interpreter may be gone by then.
PyTypeObject* g_batch_norm_results = nullptr;
PyTypeObject* g_prelu_results = nullptr;

// As tuple.__new__ does, without a tuple to copy from.
template <Py_ssize_t kCount>
py::object make_results(PyTypeObject* type, py::object* results) {
    PyObject* made = type->tp_alloc(type, kCount);
    if (made == nullptr) throw py::error_already_set();
#if PY_VERSION_HEX >= 0x030E0000
    reinterpret_cast<PyTupleObject*>(made)->ob_hash = -1;  // not computed; tp_alloc leaves 0
#endif
    for (Py_ssize_t i = 0; i < kCount; ++i) PyTuple_SET_ITEM(made, i, results[i].release().ptr());
    return py::reinterpret_steal<py::object>(made);
}

py::object first(py::object* results) {
    return results[0];
}
py::object batch_norm_results(py::object* r) {
    return make_results<4>(g_batch_norm_results, r);
}
py::object prelu_results(py::object* r) {
    return make_results<2>(g_prelu_results, r);
}

enum class Use { kRun, kPrepare, kExplain };

template <Use kUse, class Op>
py::object use(Call<Op>& call, py::object (*combine)(py::object*)) {
    py::object results[4];
    if constexpr (kUse == Use::kExplain) return call.explain();
    if constexpr (kUse == Use::kPrepare) return py::cast(call.prepare(results, combine));
    call.run(results);
    return combine(results);
}

// In the order of the parameters in ops.py. Attributes are read before arrays: their __index__ is
// Python code, which may free the memory of an array. (So may an exporter's __dlpack__ free that of
// an array before it.)
template <size_t kCount>
using Arguments = std::array<py::handle, kCount>;

template <Use kUse>
py::object batch_norm_reduce_backward(const Arguments<14>& arguments) {
    using Op = BatchNormReduceBackward;
    const auto& [grad_out, input, mean, invstd, weight, input_g, weight_g, bias_g, sum_dy,
                 sum_dy_xmu, grad_weight, grad_bias, device, soc] = arguments;
    Call<Op> call(device, soc);
    call.args.input_g = to_bool(input_g, call.name(), "input_g");
    call.args.weight_g = to_bool(weight_g, call.name(), "weight_g");
    call.args.bias_g = to_bool(bias_g, call.name(), "bias_g");
    const py::handle inputs[] = {grad_out, input, mean, invstd, weight};
    const py::handle outputs[] = {sum_dy, sum_dy_xmu, grad_weight, grad_bias};
    for (int i = 0; i < Op::kFirstOutput; ++i) call.set(i, inputs[i]);
    for (int i = 0; i < 4; ++i) {
        if (call.args.wants(Op::kFirstOutput + i)) call.set(Op::kFirstOutput + i, outputs[i]);
    }
    return use<kUse>(call, batch_norm_results);
}

template <Use kUse>
py::object avg_pool2d_backward(const Arguments<12>& arguments) {
    using Op = AvgPool2dBackward;
    const auto& [grad_output, input, kernel_size, stride, padding, ceil_mode, count_include_pad,
                 divisor_override, cube_math_type, grad_input, device, soc] = arguments;
    Call<Op> call(device, soc);
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
    call.set(Op::kGradOutput, grad_output);
    call.set(Op::kSelf, input);
    call.set(Op::kGradInput, grad_input);
    return use<kUse>(call, first);
}

template <Use kUse>
py::object prelu_backward(const Arguments<7>& arguments) {
    const auto& [grad_output, input, weight, grad_input, grad_weight, device, soc] = arguments;
    Call<PreluBackward> call(device, soc);
    const py::handle tensors[] = {grad_output, input, weight, grad_input, grad_weight};
    for (int i = 0; i < 5; ++i) call.set(i, tensors[i]);
    return use<kUse>(call, prelu_results);
}

template <Use kUse>
py::object softmax_backward(const Arguments<6>& arguments) {
    using Op = SoftmaxBackward;
    const auto& [grad_output, output, dim, out, device, soc] = arguments;
    Call<Op> call(device, soc);
    call.args.dim = dim.is_none() ? 0 : to_int(dim, call.name(), "dim");
    call.set(Op::kGradOutput, grad_output);
    call.set(Op::kOutput, output);
    call.set(Op::kOut, out);
    call.require(dim, "dim");
    return use<kUse>(call, first);
}

template <size_t kCount>
py::object call_with(py::object (*function)(const Arguments<kCount>&), PyObject* const* given,
                     Py_ssize_t count) {
    if (count != kCount) throw py::type_error("wrong number of arguments");
    Arguments<kCount> arguments;
    std::copy(given, given + kCount, arguments.begin());
    return function(arguments);
}

template <auto kFunction>
PyMethodDef method(const char* name) {
    using Function = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t);
    const Function function = [](PyObject*, PyObject* const* given, Py_ssize_t count) {
        return result_of([&] { return call_with(kFunction, given, count); });
    };
    return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)),
            METH_FASTCALL, nullptr};
}

}  // namespace

void register_operators(py::module_& m) {
    static PyMethodDef methods[] = {
#define OPERATOR(name, Type)                                                       \
    method<name<Use::kRun>>(#name), method<name<Use::kPrepare>>("prepare_" #name), \
        method<name<Use::kExplain>>("explain_" #name),
#include "ops/ops.def"
#undef OPERATOR
        {}};
    if (PyModule_AddFunctions(m.ptr(), methods) != 0) throw py::error_already_set();
    m.def("set_result_types", [](const py::type& batch_norm, const py::type& prelu) {
        const auto keep = [](const py::type& type) {
            return reinterpret_cast<PyTypeObject*>(py::type(type).release().ptr());
        };
        g_batch_norm_results = keep(batch_norm);
        g_prelu_results = keep(prelu);
    });
}

}  // namespace ascend_grad::python
