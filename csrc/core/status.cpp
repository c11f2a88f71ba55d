#include "core/status.h"

#include <utility>

namespace ascend_grad {

const char* status_code_name(StatusCode code) {
    switch (code) {
        case StatusCode::kSuccess:
            return "ACLNN_SUCCESS";
        case StatusCode::kParamNullptr:
            return "ACLNN_ERR_PARAM_NULLPTR";
        case StatusCode::kParamInvalid:
            return "ACLNN_ERR_PARAM_INVALID";
        case StatusCode::kRuntimeError:
            return "ACLNN_ERR_RUNTIME_ERROR";
        case StatusCode::kInner:
            return "ACLNN_ERR_INNER";
        case StatusCode::kInnerFindKernelError:
            return "ACLNN_ERR_INNER_FIND_KERNEL_ERROR";
        case StatusCode::kInnerNullptr:
            return "ACLNN_ERR_INNER_NULLPTR";
    }
    return "unknown status";
}

std::string required_text(Interface interface) {
    return std::string("is required, got ") +
           (interface == Interface::kC ? "a null pointer" : "None");
}

std::string message_text(const char* who, const char* parameter, const std::string& text,
                         const char* code_name, int code) {
    std::string result = who;
    if (parameter[0] != '\0') result.append(": ").append(parameter);
    result.append(": ").append(text);
    result.append(" [").append(code_name).append(", ").append(std::to_string(code)).append("]");
    return result;
}

struct Status::Failure {
    StatusCode code;
    const char* operator_name;
    const char* parameter_name;
    std::string text;
};

void Status::Delete::operator()(const Failure* failure) const {
    delete failure;
}

Status::Status(StatusCode code, const char* operator_name, const char* parameter, std::string text)
    : failure_(new Failure{code, operator_name, parameter, std::move(text)}) {}

StatusCode Status::code() const {
    return ok() ? StatusCode::kSuccess : failure_->code;
}

const char* Status::operator_name() const {
    return failure_->operator_name;
}

const char* Status::parameter_name() const {
    return failure_->parameter_name;
}

const std::string& Status::text() const {
    return failure_->text;
}

std::string Status::message() const {
    return message_text(operator_name(), parameter_name(), text(), status_code_name(code()),
                        static_cast<int>(code()));
}

}  // namespace ascend_grad
