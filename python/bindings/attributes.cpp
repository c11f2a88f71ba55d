#include "attributes.h"

#include <cstring>
#include <string>

#include "arrays.h"
#include "errors.h"

namespace ascend_grad::python {

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
        // Python prints no number of thousands of digits.
        const auto bits = index.attr("bit_length")().cast<int64_t>();
        raise_invalid(operator_name, parameter,
                      "must be from -2^63 to 2^63 - 1, got " +
                          (bits <= 256 ? py::str(index).cast<std::string>()
                                       : "an int of " + std::to_string(bits) + " bits"));
    }
    return value;
}

bool to_bool(py::handle object, const char* operator_name, const char* parameter) {
    if (object.ptr() == Py_True) return true;
    if (object.ptr() == Py_False) return false;
    const bool is_number = PyIndex_Check(object.ptr()) && !PySequence_Check(object.ptr());
    if (!is_number && !is_numpy_bool(object)) {
        raise_type_error(operator_name, parameter,
                         std::string("a bool is needed, got ") + Py_TYPE(object.ptr())->tp_name);
    }
    const int truth = PyObject_IsTrue(object.ptr());
    if (truth < 0) throw py::error_already_set();
    return truth == 1;
}

IntArrayArgument::IntArrayArgument(py::handle object, const char* operator_name,
                                   const char* parameter)
    : is_null_(object.is_none()) {
    if (is_null_) return;
    array_.values = values_;
    if (PyTuple_CheckExact(object.ptr())) {
        array_.size = PyTuple_GET_SIZE(object.ptr());
        for (int64_t i = 0; i < array_.size && i < kCapacity; ++i)
            values_[i] = to_int(PyTuple_GET_ITEM(object.ptr(), i), operator_name, parameter);
        return;
    }
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
        values_[i] = to_int(py::object(sequence[static_cast<size_t>(i)]), operator_name, parameter);
    }
}

}  // namespace ascend_grad::python
