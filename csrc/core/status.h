// Result of a check: a CANN status code and the text that explains it.
#pragma once

#include <cstdint>
#include <memory>
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

// Success, of which a call meets dozens, is a null pointer.
class [[nodiscard]] Status {
  public:
    Status() = default;
    // Names as the entry spells them, `parameter` "" when the rule concerns no single parameter.
    // `text`: the rule, what was given, what is allowed.
    [[gnu::cold]] Status(StatusCode code, const char* operator_name, const char* parameter,
                         std::string text);

    bool ok() const { return failure_ == nullptr; }
    StatusCode code() const;
    // Of a failure.
    const char* operator_name() const;
    const char* parameter_name() const;
    const std::string& text() const;
    // As message_text, with names of the form ACLNN_ERR_...
    std::string message() const;

  private:
    struct Failure;
    struct Delete {
        [[gnu::cold]] void operator()(const Failure* failure) const;
    };
    std::unique_ptr<const Failure, Delete> failure_;
};

#define ASCEND_GRAD_TRY(expression)                   \
    do {                                              \
        ::ascend_grad::Status status_ = (expression); \
        if (!status_.ok()) return status_;            \
    } while (0)

}  // namespace ascend_grad
