#include "capi/objects.h"

namespace ascend_grad::capi {
namespace {

auto& g_tensors = *new HandleTable<const Tensor>(HandleKind::kTensor);
auto& g_int_arrays = *new HandleTable<const IntList>(HandleKind::kIntArray);
auto& g_float_arrays = *new HandleTable<const Values<float>>(HandleKind::kFloatArray);
auto& g_bool_arrays = *new HandleTable<const Values<bool>>(HandleKind::kBoolArray);
auto& g_scalars = *new HandleTable<const Scalar>(HandleKind::kScalar);
auto& g_tensor_lists = *new HandleTable<const HandleList>(HandleKind::kTensorList);
auto& g_scalar_lists = *new HandleTable<const HandleList>(HandleKind::kScalarList);

}  // namespace

HandleTable<const Tensor>& tensors() {
    return g_tensors;
}

HandleTable<const IntList>& int_arrays() {
    return g_int_arrays;
}

HandleTable<const Values<float>>& float_arrays() {
    return g_float_arrays;
}

HandleTable<const Values<bool>>& bool_arrays() {
    return g_bool_arrays;
}

HandleTable<const Scalar>& scalars() {
    return g_scalars;
}

HandleTable<const HandleList>& tensor_lists() {
    return g_tensor_lists;
}

HandleTable<const HandleList>& scalar_lists() {
    return g_scalar_lists;
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
