// Result of a check: a CANN status code and the text that explains it.
#pragma once

#include <cstdint>
#include <string>

namespace ascend_grad {

enum class StatusCode : int32_t {
    kSuccess = 0,
    kParamNullptr = 161001,
    kParamInvalid = 161002,
    kRuntimeError = 361001,
    kInner = 561000,
    kInnerFindKernelError = 561003,
    kInnerNullptr = 561103,
};

// "ACLNN_ERR_PARAM_INVALID"
const char* status_code_name(StatusCode code);

// The entry through which a call came decides how operators and parameters are spelled in messages.
enum class Interface : int32_t { kPython, kC };

struct Name {
    const char* c;       // "gradOutput"
    const char* python;  // "grad_output"
    const char* in(Interface interface) const { return interface == Interface::kC ? c : python; }
};

// What is said of a required argument that is absent.
std::string required_text(Interface interface);
// "who: parameter: text [CODE_NAME, number]"; parameter "" is left out.
std::string message_text(const char* who, const char* parameter, const std::string& text,
                         const char* code_name, int code);

struct [[nodiscard]] Status {
    StatusCode code = StatusCode::kSuccess;
    const char* operator_name = "";   // as the entry spells it
    const char* parameter_name = "";  // likewise; "" when the rule concerns no single parameter
    std::string text;                 // the rule, what was given, what is allowed

    bool ok() const { return code == StatusCode::kSuccess; }
    // As message_text, with names of the form ACLNN_ERR_...
    std::string message() const;
};

#define ASCEND_GRAD_TRY(expression)                   \
    do {                                              \
        ::ascend_grad::Status status_ = (expression); \
        if (!status_.ok()) return status_;            \
    } while (0)

}  // namespace ascend_grad
