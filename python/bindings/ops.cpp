// Python arguments to operator arguments, one class per operator; the rest is common.
#include "ops.h"

#include <cstring>
#include <string>

#include "arrays.h"
#include "core/soc.h"
#include "errors.h"
#include "executor.h"
#include "ops/table.h"

namespace ascend_grad::python {
namespace {

py::object* g_batch_norm_results = nullptr;
py::object* g_prelu_results = nullptr;

int64_t to_int(py::handle object, const char* operator_name, const char* parameter) {
    const py::object index = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
    if (!index) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw py::error_already_set();
        PyErr_Clear();
        raise_type_error(operator_name, parameter,
                         std::string("an int is needed, got ") + Py_TYPE(object.ptr())->tp_name);
    }
    int overflow = 0;
    const int64_t value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
    if (overflow != 0) {
        raise_invalid(operator_name, parameter,
                      "must fit 64 bits, got " + py::str(index).cast<std::string>());
    }
    return value;
}

// True, False, NumPy's, or an int.
bool to_bool(py::handle object, const char* operator_name, const char* parameter) {
    if (object.ptr() == Py_True) return true;
    if (object.ptr() == Py_False) return false;
    const bool is_number = PyIndex_Check(object.ptr()) && !PySequence_Check(object.ptr());
    if (!is_number && !is_numpy_bool(object)) {
        raise_type_error(operator_name, parameter,
                         std::string("a bool is needed, got ") + Py_TYPE(object.ptr())->tp_name);
    }
    return PyObject_IsTrue(object.ptr()) == 1;
}

// None, an int, or a sequence of ints.
class IntArrayArgument {
  public:
    IntArrayArgument(py::handle object, const char* operator_name, const char* parameter)
        : is_null_(object.is_none()) {
        if (is_null_) return;
        array_.values = values_;
        const bool has_length = PySequence_Check(object.ptr()) && PyObject_Size(object.ptr()) >= 0;
        if (PyErr_Occurred() != nullptr) {
            // An array of rank 0 is a sequence without a length.
            if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw py::error_already_set();
            PyErr_Clear();
        }
        if (!has_length && PyIndex_Check(object.ptr())) {
            values_[0] = to_int(object, operator_name, parameter);
            array_.size = 1;
            return;
        }
        if (!has_length || PyUnicode_Check(object.ptr()) || PyBytes_Check(object.ptr())) {
            raise_type_error(operator_name, parameter,
                             std::string("an int or a sequence of ints is needed, got ") +
                                 Py_TYPE(object.ptr())->tp_name);
        }
        const auto sequence = py::reinterpret_borrow<py::sequence>(object);
        array_.size = static_cast<int64_t>(sequence.size());
        for (int64_t i = 0; i < array_.size && i < kCapacity; ++i) {
            values_[i] =
                to_int(py::object(sequence[static_cast<size_t>(i)]), operator_name, parameter);
        }
    }
    const IntArray* get() const { return is_null_ ? nullptr : &array_; }

  private:
    static constexpr int kCapacity = 2;  // a longer one is refused by its length
    bool is_null_;
    int64_t values_[kCapacity] = {};
    IntArray array_;
};

// The arrays of one call and the way from them to the operator.
template <class Op>
class Call {
  public:
    typename Op::Args args;

    explicit Call(py::handle soc) {
        args.interface = Interface::kPython;
        args.soc = default_soc();
        if (soc.is_none()) return;
        const SocInfo* info = soc_of(soc);
        if (info == nullptr) {
            raise_invalid(name(), "soc",
                          std::string("must be one of ") + soc_names() + ", got " +
                              py::repr(soc).cast<std::string>());
        }
        args.soc = info->soc;
    }
    static const char* name() { return Op::info().name.python; }

    void set(int index, py::handle object) {
        if (object.is_none()) return;
        const Parameter& parameter = Op::info().tensors[index];
        arrays_[index].assign(object, name(), parameter.name.python, parameter.is_output());
        TensorView& view = arrays_[index].view;
        // The tags that torch_npu gives tensors; any rank but 3 takes NCHW's, so that the rule on
        // ranks answers.
        if (std::is_same_v<Op, AvgPool2dBackward>)
            view.format = view.rank == 3 ? Format::kNCL : Format::kNCHW;
        args.tensors[index] = &view;
        if (parameter.is_output()) given_[index] = py::reinterpret_borrow<py::object>(object);
    }

    // Runs the call; results in prototype order, None where not wanted.
    void run(py::object* results) {
        Executor executor;
        make(executor, results);
        const Workspace workspace(executor.workspace_size);
        run_unlocked(executor, workspace.data(), nullptr);
    }
    std::unique_ptr<PreparedCall> prepare(py::object* results, py::object (*combine)(py::object*)) {
        Executor executor;
        make(executor, results);
        py::list owners;
        for (const ArrayArgument& array : arrays_) {
            if (array.owner) owners.append(array.owner);
        }
        return std::make_unique<PreparedCall>(executor, combine(results), std::move(owners));
    }

  private:
    // Checks and plans with the arrays given and descriptions of those that are not, then makes the
    // latter.
    void make(Executor& executor, py::object* results) {
        const int count = Op::info().tensor_count;
        bool inputs_given = true;
        for (int i = 0; i < Op::kFirstOutput; ++i) {
            inputs_given = inputs_given && (args.tensors[i] != nullptr || is_optional(i));
        }
        for (int i = Op::kFirstOutput; i < count && inputs_given; ++i) {
            if (args.tensors[i] != nullptr || !wants(i)) continue;
            arrays_[i].view = Op::describe_output(args, i);
            arrays_[i].view.is_described = true;
            args.tensors[i] = &arrays_[i].view;
        }
        const Status status = make_executor<Op>(args, executor);
        if (!status.ok()) raise(status);
        for (int i = Op::kFirstOutput; i < count; ++i) {
            py::object& result = results[i - Op::kFirstOutput];
            if (!wants(i)) {
                result = py::none();
            } else if (given_[i]) {
                result = std::move(given_[i]);
            } else {
                arrays_[i].allocate();
                executor.addresses[i] = arrays_[i].view.data;
                result = arrays_[i].owner;
            }
        }
    }
    static bool is_optional(int index) {
        if constexpr (std::is_same_v<Op, BatchNormReduceBackward>) return index == Op::kWeight;
        return false;
    }
    bool wants(int index) const {
        if constexpr (std::is_same_v<Op, BatchNormReduceBackward>) return args.wants(index);
        return true;
    }

    ArrayArgument arrays_[kMaxTensors];
    py::object given_[kMaxTensors];
};

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
                     const Use& use) {
    using Op = BatchNormReduceBackward;
    Call<Op> call(soc);
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
                   const Use& use) {
    using Op = AvgPool2dBackward;
    Call<Op> call(soc);
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
                Object grad_weight, Object soc, const Use& use) {
    using Op = PreluBackward;
    Call<Op> call(soc);
    const py::handle tensors[] = {grad_output, input, weight, grad_input, grad_weight};
    for (int i = 0; i < 5; ++i) call.set(i, tensors[i]);
    return use(call, prelu_results);
}

template <class Use>
auto with_softmax(Object grad_output, Object output, Object dim, Object out, Object soc,
                  const Use& use) {
    using Op = SoftmaxBackward;
    Call<Op> call(soc);
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

}  // namespace

const SocInfo* soc_of(py::handle name) {
    if (!py::isinstance<py::str>(name)) return nullptr;
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(name.ptr(), &size);
    if (text == nullptr) {
        PyErr_Clear();
        return nullptr;
    }
    return std::strlen(text) == static_cast<size_t>(size) ? find_soc(text) : nullptr;
}

void register_operators(py::module_& m) {
    m.def("batch_norm_reduce_backward",
          [](Object a, Object b, Object c, Object d, Object e, Object f, Object g, Object h,
             Object i, Object j, Object k, Object l, Object soc) {
              return with_batch_norm(a, b, c, d, e, f, g, h, i, j, k, l, soc, run_now);
          });
    m.def("prepare_batch_norm_reduce_backward",
          [](Object a, Object b, Object c, Object d, Object e, Object f, Object g, Object h,
             Object i, Object j, Object k, Object l, Object soc) {
              return with_batch_norm(a, b, c, d, e, f, g, h, i, j, k, l, soc, prepare_only);
          });
    m.def("avg_pool2d_backward", [](Object a, Object b, Object c, Object d, Object e, Object f,
                                    Object g, Object h, Object i, Object j, Object soc) {
        return with_avg_pool(a, b, c, d, e, f, g, h, i, j, soc, run_now);
    });
    m.def("prepare_avg_pool2d_backward",
          [](Object a, Object b, Object c, Object d, Object e, Object f, Object g, Object h,
             Object i, Object j, Object soc) {
              return with_avg_pool(a, b, c, d, e, f, g, h, i, j, soc, prepare_only);
          });
    m.def("prelu_backward", [](Object a, Object b, Object c, Object d, Object e, Object soc) {
        return with_prelu(a, b, c, d, e, soc, run_now);
    });
    m.def("prepare_prelu_backward",
          [](Object a, Object b, Object c, Object d, Object e, Object soc) {
              return with_prelu(a, b, c, d, e, soc, prepare_only);
          });
    m.def("softmax_backward", [](Object a, Object b, Object c, Object d, Object soc) {
        return with_softmax(a, b, c, d, soc, run_now);
    });
    m.def("prepare_softmax_backward", [](Object a, Object b, Object c, Object d, Object soc) {
        return with_softmax(a, b, c, d, soc, prepare_only);
    });
    m.def("set_result_types", [](Object batch_norm, Object prelu) {
        g_batch_norm_results = new py::object(batch_norm);
        g_prelu_results = new py::object(prelu);
    });
}

}  // namespace ascend_grad::python
