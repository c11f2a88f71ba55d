// From what an array says of itself to a view.
#pragma once

#include <pybind11/pybind11.h>

#include "core/tensor.h"

namespace ascend_grad::python {

namespace py = pybind11;

// What messages about an argument need.
struct Context {
    const char* operator_name;
    const char* parameter;
    bool is_output;
};

void require_writable(const Context& context, bool writable);

// While `error` is handled: raises TypeError, caused by it, for an object that does not give its
// memory by `protocol`. What has nothing to do with the object, as a lack of memory, goes on as it
// is.
[[noreturn]] void raise_refusal(py::error_already_set& error, py::handle object,
                                const char* protocol, const Context& context);

// Reads a DLPack exporter, by the C functions of its type (DLPack 1.3) if they are there, which
// take a fraction of the time of `__dlpack__`. The result keeps its memory alive; null for other
// objects.
py::object read_dlpack(TensorView& view, py::handle object, const Context& context);

}  // namespace ascend_grad::python
