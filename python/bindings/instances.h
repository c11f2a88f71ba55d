// What pybind11 leaves open about instances of its classes.
#pragma once

#include <pybind11/pybind11.h>

namespace ascend_grad::python {

// Instances come from calls of the class only: what `__new__` alone returns would have no value.
// Python refuses a base's `__new__` for a type that has its own.
inline void refuse_bare_new(pybind11::handle type) {
    static const newfunc original = reinterpret_cast<PyTypeObject*>(type.ptr())->tp_new;
    reinterpret_cast<PyTypeObject*>(type.ptr())->tp_new =
        [](PyTypeObject* made, PyObject* arguments, PyObject* keywords) {
            return original(made, arguments, keywords);
        };
}

}  // namespace ascend_grad::python
