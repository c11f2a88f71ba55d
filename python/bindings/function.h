#pragma once

#include <pybind11/pybind11.h>

namespace ascend_grad::python {

// The class `Function` and `make_function`, which makes one.
void register_function(pybind11::module_& module);

}  // namespace ascend_grad::python
