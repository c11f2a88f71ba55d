// What handles of aclnn stand for. Objects never change: setting an address puts another object
// behind the handle, so that calls on other threads see the old one or the new one.
#pragma once

#include <vector>

#include "aclnn/acl_meta.h"
#include "capi/error.h"
#include "capi/handles.h"
#include "core/described_tensor.h"
#include "ops/avg_pool2d_backward/op.h"

namespace ascend_grad::capi {

using Tensor = DescribedTensor;

struct IntList {
    explicit IntList(std::vector<int64_t> given)
        : values(std::move(given)), array{values.data(), static_cast<int64_t>(values.size())} {}
    const std::vector<int64_t> values;
    const IntArray array;  // of the values
};

template <class T>
struct Values {
    explicit Values(std::vector<T> given) : values(std::move(given)) {}
    const std::vector<T> values;
};
struct Scalar {
    unsigned char bytes[16];
    DataType dtype;
};
struct HandleList {
    std::vector<const void*> handles;
};

HandleTable<const Tensor>& tensors();
HandleTable<const IntList>& int_arrays();
HandleTable<const Values<float>>& float_arrays();
HandleTable<const Values<bool>>& bool_arrays();
HandleTable<const Scalar>& scalars();
HandleTable<const HandleList>& tensor_lists();
HandleTable<const HandleList>& scalar_lists();

// Another address of the storage for the tensor behind the handle.
void set_address(const aclTensor* handle, const Tensor& tensor, void* address);

Status null_argument(StatusCode code, const char* function, const char* parameter);

// The object of a handle that may not be null; ACLNN_ERR_PARAM_NULLPTR otherwise.
template <class T>
Status find_object(const HandleTable<T>& table, const char* function, const char* parameter,
                   const void* handle, std::shared_ptr<T>& object) {
    if (handle == nullptr) return null_argument(StatusCode::kParamNullptr, function, parameter);
    object = table.find(handle);
    if (object != nullptr) return {};
    return {StatusCode::kParamNullptr, function, parameter, table.refuse(handle)};
}

}  // namespace ascend_grad::capi
