#include "views.h"

#include <string>

#include "errors.h"

namespace ascend_grad::python {

void require_writable(const Context& context, bool writable) {
    if (context.is_output && !writable) {
        raise_invalid(context.operator_name, context.parameter,
                      "must be writable, got a read-only array");
    }
}

void raise_refusal(py::error_already_set& error, py::handle object, const char* protocol,
                   const Context& context) {
    if (!error.matches(PyExc_Exception) || error.matches(PyExc_MemoryError)) throw;
    const std::string reason = py::str(error.value());
    const std::string text = std::string(context.operator_name) + ": " + context.parameter +
                             ": an array that shows its CPU memory is needed, but " +
                             Py_TYPE(object.ptr())->tp_name + "." + protocol + " fails: " + reason;
    py::raise_from(error, PyExc_TypeError, text.c_str());
    throw py::error_already_set();
}

}  // namespace ascend_grad::python
