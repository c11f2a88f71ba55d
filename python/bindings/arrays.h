// Python objects as tensors: NumPy arrays, DLPack exporters and objects with an array interface.
// Nothing is copied or cast.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "core/operator.h"

namespace ascend_grad::python {

namespace py = pybind11;

struct ArrayArgument {
    TensorView view;
    py::object owner;  // keeps the memory alive

    // Reads an array. `operator_name` and `parameter` are for messages; an output must be writable.
    void assign(py::handle object, const char* operator_name, const char* parameter,
                bool is_output);
    // Reads a DeviceArray.
    void assign_device(py::handle object, const char* operator_name, const char* parameter);
    // Makes a new C-contiguous array of view's dtype and shape.
    void allocate();
};

bool is_numpy_bool(py::handle object);

// Looks up what conversions need; called once when the module is imported.
void initialise_arrays();

}  // namespace ascend_grad::python
