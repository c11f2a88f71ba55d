#include "function.h"

#include <structmember.h>

#include <algorithm>
#include <cstddef>

namespace ascend_grad::python {
namespace {

namespace py = pybind11;

constexpr Py_ssize_t kMostParameters = 16;

// A Python function that passes its parameters, in order, to a function of the core. Calls go there
// at once: the interpreter takes as long to arrange named arguments as the checks of an operator
// do. Where the arguments do not fit, or a name is another object than the parameter's, the Python
// function is called and has the answer. What an instance holds is never freed.
struct Function {
    PyObject head;
    PyObject* attributes;  // __name__, __doc__ and the like
    PyObject* weak_references;
    vectorcallfunc vectorcall;
    PyObject* function;
    PyObject* core;
    PyObject* names;        // of the parameters, a tuple
    PyObject* defaults;     // of the last ones, a tuple
    Py_ssize_t positional;  // parameters that need no name

    // The value of every parameter. False where the arguments do not fit.
    bool arrange(PyObject** values, PyObject* const* given, Py_ssize_t count,
                 PyObject* given_names) const {
        const Py_ssize_t total = PyTuple_GET_SIZE(names);
        if (count > positional) return false;
        std::copy(given, given + count, values);
        std::fill(values + count, values + total, nullptr);
        const Py_ssize_t named = given_names == nullptr ? 0 : PyTuple_GET_SIZE(given_names);
        for (Py_ssize_t i = 0, next = count; i < named; ++i, ++next) {
            next = parameter(PyTuple_GET_ITEM(given_names, i), next);
            if (next == total || values[next] != nullptr) return false;
            values[next] = given[count + i];
        }
        const Py_ssize_t required = total - PyTuple_GET_SIZE(defaults);
        for (Py_ssize_t i = count; i < total; ++i) {
            if (values[i] != nullptr) continue;
            if (i < required) return false;
            values[i] = PyTuple_GET_ITEM(defaults, i - required);
        }
        return true;
    }

  private:
    // The parameter of that name, sought from `first` on as names mostly come in order; their
    // number if there is none.
    Py_ssize_t parameter(PyObject* name, Py_ssize_t first) const {
        PyObject** const begin = PySequence_Fast_ITEMS(names);
        PyObject** const end = begin + PyTuple_GET_SIZE(names);
        PyObject** const found = std::find(begin + first, end, name);
        if (found != end) return found - begin;
        PyObject** const earlier = std::find(begin, begin + first, name);
        return earlier != begin + first ? earlier - begin : end - begin;
    }
};

Function& function_of(PyObject* self) {
    return *reinterpret_cast<Function*>(self);
}

PyObject* call(PyObject* self, PyObject* const* given, size_t flags, PyObject* given_names) {
    const Function& function = function_of(self);
    PyObject* values[kMostParameters];
    if (!function.arrange(values, given, PyVectorcall_NARGS(flags), given_names))
        return PyObject_Vectorcall(function.function, given, flags, given_names);
    const auto total = static_cast<size_t>(PyTuple_GET_SIZE(function.names));
    return PyObject_Vectorcall(function.core, values, total, nullptr);
}

// As functions do: help() and inspect tell callables of this kind by it.
PyObject* bind(PyObject* self, PyObject* object, PyObject*) {
    return object == nullptr ? Py_NewRef(self) : PyMethod_New(self, object);
}

PyObject* represent(PyObject* self) {
    return PyObject_Repr(function_of(self).function);
}

// Pickled by its name.
PyObject* reduce(PyObject* self, PyObject*) {
    return PyObject_GetAttrString(self, "__qualname__");
}

PyTypeObject* make_type() {
    static PyMemberDef members[] = {
        {"__dictoffset__", T_PYSSIZET, offsetof(Function, attributes), READONLY, nullptr},
        {"__weaklistoffset__", T_PYSSIZET, offsetof(Function, weak_references), READONLY, nullptr},
        {"__vectorcalloffset__", T_PYSSIZET, offsetof(Function, vectorcall), READONLY, nullptr},
        {}};
    static PyGetSetDef properties[] = {
        {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr}, {}};
    static PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr}, {}};
    static PyType_Slot slots[] = {{Py_tp_members, members},
                                  {Py_tp_getset, properties},
                                  {Py_tp_methods, methods},
                                  {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                  {Py_tp_descr_get, reinterpret_cast<void*>(bind)},
                                  {Py_tp_repr, reinterpret_cast<void*>(represent)},
                                  {}};
    static PyType_Spec spec = {"ascend_grad._core.Function", sizeof(Function), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
                                   Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

}  // namespace

void register_function(py::module_& module) {
    PyTypeObject* const type = make_type();
    if (type == nullptr || PyModule_AddType(module.ptr(), type) != 0) throw py::error_already_set();
    module.def("make_function",
               [type](const py::function& function, const py::function& core,
                      const py::tuple& names, const py::tuple& defaults, Py_ssize_t positional) {
                   const Py_ssize_t total = PyTuple_GET_SIZE(names.ptr());
                   if (total > kMostParameters || positional > total ||
                       PyTuple_GET_SIZE(defaults.ptr()) > total)
                       throw py::value_error("make_function: too many parameters");
                   py::object made = py::reinterpret_steal<py::object>(type->tp_alloc(type, 0));
                   if (!made) throw py::error_already_set();
                   Function& f = function_of(made.ptr());
                   f.vectorcall = call;
                   f.function = py::object(function).release().ptr();
                   f.core = py::object(core).release().ptr();
                   f.names = py::object(names).release().ptr();
                   f.defaults = py::object(defaults).release().ptr();
                   f.positional = positional;
                   return made;
               });
}

}  // namespace ascend_grad::python
