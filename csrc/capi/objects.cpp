#include "capi/objects.h"

namespace ascend_grad::capi {

HandleTable<const Tensor>& tensors() {
    static auto* const instance = new HandleTable<const Tensor>(HandleKind::kTensor);
    return *instance;
}

HandleTable<const IntList>& int_arrays() {
    static auto* const instance = new HandleTable<const IntList>(HandleKind::kIntArray);
    return *instance;
}

HandleTable<const Values<float>>& float_arrays() {
    static auto* const instance = new HandleTable<const Values<float>>(HandleKind::kFloatArray);
    return *instance;
}

HandleTable<const Values<bool>>& bool_arrays() {
    static auto* const instance = new HandleTable<const Values<bool>>(HandleKind::kBoolArray);
    return *instance;
}

HandleTable<const Scalar>& scalars() {
    static auto* const instance = new HandleTable<const Scalar>(HandleKind::kScalar);
    return *instance;
}

HandleTable<const HandleList>& tensor_lists() {
    static auto* const instance = new HandleTable<const HandleList>(HandleKind::kTensorList);
    return *instance;
}

HandleTable<const HandleList>& scalar_lists() {
    static auto* const instance = new HandleTable<const HandleList>(HandleKind::kScalarList);
    return *instance;
}

void set_address(const aclTensor* handle, const Tensor& tensor, void* address) {
    Tensor moved = tensor;
    moved.address = static_cast<char*>(address);
    tensors().replace(handle, std::make_shared<const Tensor>(std::move(moved)));
}

Status null_argument(StatusCode code, const char* function, const char* parameter) {
    return {code, function, parameter, required_text(Interface::kC)};
}

}  // namespace ascend_grad::capi
