#pragma once

#include <pybind11/pybind11.h>

namespace ascend_grad::python {

// The operators, each as `name(...)` and `prepare_name(...)`, positional arguments only.
void register_operators(pybind11::module_& module);

}  // namespace ascend_grad::python
