#pragma once

#include <pybind11/pybind11.h>

namespace ascend_grad::python {

// The operators, each as `name(...)`, `prepare_name(...)` and `explain_name(...)`, every argument
// given and none by name.
void register_operators(pybind11::module_& module);

}  // namespace ascend_grad::python
