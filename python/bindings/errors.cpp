#include "errors.h"

#include <utility>

namespace ascend_grad::python {

void raise(const Status& status) {
    const py::object make_error = py::module_::import("ascend_grad.errors").attr("make_error");
    const py::object error = make_error(status.message(), static_cast<int>(status.code()),
                                        status_code_name(status.code()), status.operator_name(),
                                        status.parameter_name());
    PyErr_SetObject(py::type::handle_of(error).ptr(), error.ptr());
    throw py::error_already_set();
}

void raise_invalid(const char* operator_name, const char* parameter, std::string text) {
    raise(Status{StatusCode::kParamInvalid, operator_name, parameter, std::move(text)});
}

void raise_type_error(const char* operator_name, const char* parameter, std::string text) {
    throw py::type_error(std::string(operator_name) + ": " + parameter + ": " + text);
}

std::string for_device_memory(const char* operator_name) {
    return std::string("; for memory of an Ascend device use ascend_grad.npu.") + operator_name;
}

}  // namespace ascend_grad::python
