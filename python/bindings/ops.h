#pragma once

#include <pybind11/pybind11.h>

#include "core/soc.h"

namespace ascend_grad::python {

// The product that a str names; null for anything else.
const SocInfo* soc_of(pybind11::handle name);

// The operators, each as `name(...)` and `prepare_name(...)`, positional arguments only.
void register_operators(pybind11::module_& module);

}  // namespace ascend_grad::python
