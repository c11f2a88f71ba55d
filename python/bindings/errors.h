#pragma once

#include <cxxabi.h>
#include <pybind11/pybind11.h>

#include <string>

#include "core/status.h"

namespace ascend_grad::python {

namespace py = pybind11;

// Throws the Python exception of a status.
[[noreturn]] void raise(const Status& status);
// ParamInvalidError for what only this entry can get wrong.
[[noreturn]] void raise_invalid(const char* operator_name, const char* parameter, std::string text);
[[noreturn]] void raise_type_error(const char* operator_name, const char* parameter,
                                   std::string text);
// "; for memory of an Ascend device use ascend_grad.npu.<operator>"
std::string for_device_memory(const char* operator_name);

// What a function for Python's own calling conventions returns: a new reference to the object that
// `work` makes, or null with Python's error set. pybind11's dispatcher takes as long as the checks
// of a call.
template <class Work>
PyObject* result_of(const Work& work) {
    try {
        return work().release().ptr();
    } catch (abi::__forced_unwind&) {  // the end of this thread, see run_unlocked
        throw;
    } catch (...) {
        py::detail::try_translate_exceptions();
        return nullptr;
    }
}

}  // namespace ascend_grad::python
