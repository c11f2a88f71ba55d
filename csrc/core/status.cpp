#include "core/status.h"

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
    }
    return "unknown status";
}

std::string Status::message() const {
    std::string result = operator_name;
    if (parameter_name[0] != '\0') result.append(": ").append(parameter_name);
    result.append(": ").append(text);
    result.append(" [").append(status_code_name(code)).append(", ");
    result.append(std::to_string(static_cast<int>(code))).append("]");
    return result;
}

}  // namespace ascend_grad
