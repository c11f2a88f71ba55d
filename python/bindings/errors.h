#pragma once

#include <string>

#include "core/status.h"

namespace ascend_grad::python {

// Throws the Python exception of a status.
[[noreturn]] void raise(const Status& status);
// ParamInvalidError for what only this entry can get wrong.
[[noreturn]] void raise_invalid(const char* operator_name, const char* parameter, std::string text);
[[noreturn]] void raise_type_error(const char* operator_name, const char* parameter,
                                   std::string text);

}  // namespace ascend_grad::python
