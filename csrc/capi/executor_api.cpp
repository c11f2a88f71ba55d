#include "capi/executor.h"

using namespace ascend_grad;
using namespace ascend_grad::capi;

namespace {

Status find_call(const char* function, const aclOpExecutor* handle, std::shared_ptr<Call>& call) {
    if (handle == nullptr) return null_argument(StatusCode::kInnerNullptr, function, "executor");
    call = executors().find(handle);
    if (call != nullptr) return {};
    return {StatusCode::kInnerNullptr, function, "executor", executors().refuse(handle)};
}

enum class Parameters { kInputs, kOutputs, kAll };

Status set_address(const char* function, aclOpExecutor* executor, size_t index,
                   const aclTensor* tensor, void* address, Parameters parameters) {
    std::shared_ptr<Call> call;
    ASCEND_GRAD_TRY(find_call(function, executor, call));
    if (tensor == nullptr) return null_argument(StatusCode::kInnerNullptr, function, "tensor");
    const OperatorInfo& info = call->info();
    int inputs = 0;
    while (inputs < info.tensor_count && !info.tensors[inputs].is_output()) ++inputs;
    const int first = parameters == Parameters::kOutputs ? inputs : 0;
    const int count = (parameters == Parameters::kInputs ? inputs : info.tensor_count) - first;
    if (index >= static_cast<size_t>(count)) {
        return {StatusCode::kParamInvalid, function, "index",
                "must be less than " + std::to_string(count) + " for " + info.name.c + ", got " +
                    std::to_string(index)};
    }
    return call->set_address(function, first + static_cast<int>(index), tensor, address);
}

aclnnStatus set_address_of(const char* name, aclOpExecutor* executor, size_t index,
                           const aclTensor* tensor, void* address, Parameters parameters) {
    return guarded(name, kAclnnCodes, [&](const char* function) {
        return report(set_address(function, executor, index, tensor, address, parameters));
    });
}

}  // namespace

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor) {
    return guarded(__func__, kAclnnCodes, [&](const char* function) -> int {
        std::shared_ptr<Call> call;
        const Status status = find_call(function, executor, call);
        if (status.ok()) call->is_repeatable = true;
        return report(status);
    });
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor) {
    return guarded(__func__, kAclnnCodes, [&](const char* function) -> int {
        std::shared_ptr<Call> call;
        const Status status = find_call(function, executor, call);
        if (status.ok()) executors().remove(executor);
        return report(status);
    });
}

aclnnStatus aclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                  void* addr) {
    return set_address_of(__func__, executor, index, tensor, addr, Parameters::kInputs);
}

aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                   void* addr) {
    return set_address_of(__func__, executor, index, tensor, addr, Parameters::kOutputs);
}

aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                             void* addr) {
    return set_address_of(__func__, executor, index, tensor, addr, Parameters::kAll);
}

aclnnStatus AclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                  void* addr) {
    return set_address_of(__func__, executor, index, tensor, addr, Parameters::kInputs);
}

aclnnStatus AclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                   void* addr) {
    return set_address_of(__func__, executor, index, tensor, addr, Parameters::kOutputs);
}

aclnnStatus AclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                             void* addr) {
    return set_address_of(__func__, executor, index, tensor, addr, Parameters::kAll);
}
